import torch


class Trainer:
    def __init__(self, args, model):
        self.use_amp = True if args.use_amp else False
        self.really = bool(args.use_amp)
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        if args.verbose:
            print("mixed")
        self.scaler = torch.amp.GradScaler("cuda", enabled=self.use_amp)

    def step(self, x):
        self.optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16, enabled=self.scaler.is_enabled()):
            loss = self.model(x)
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
