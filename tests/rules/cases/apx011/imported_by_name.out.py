import torch


class Trainer:
    def __init__(self, model, args):
        self.args = args
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.model = model
        self.scaler = torch.amp.GradScaler("cuda", enabled=bool(args.fp16))

    def train(self, loader):
        for x in loader:
            with torch.autocast("cuda", dtype=torch.float16, enabled=self.scaler.is_enabled()):
                loss = self.model(x).sum()
            self.optimizer.zero_grad()
            self.scaler.scale(loss).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()
