import torch


class Trainer:
    def __init__(self, args, exp):
        self.amp_training = args.fp16
        self.exp = exp

    def before_train(self):
        model = self.exp.get_model()
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        self.scaler = torch.amp.GradScaler("cuda", enabled=bool(self.amp_training))

        # value of epoch will be set in `resume_train`
        self.model = model

    def train(self, loader):
        self.before_train()
        for x, y in loader:
            with torch.autocast("cuda", dtype=torch.float16, enabled=self.scaler.is_enabled()):
                loss = torch.nn.functional.mse_loss(self.model(x), y)
            self.optimizer.zero_grad()
            self.scaler.scale(loss).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()
