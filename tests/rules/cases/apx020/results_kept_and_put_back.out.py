import torch


class Trainer:
    def __init__(self, hp, first, second):
        self.hp = hp
        self.models = {"G": first.cuda(), "D": second.cuda()}
        self.optimizers = {
            "G": torch.optim.SGD(self.models["G"].parameters(), lr=0.1),
            "D": torch.optim.SGD(self.models["D"].parameters(), lr=0.1),
        }
        self.scaler = torch.amp.GradScaler("cuda", enabled=bool(self.hp.mixed))

    def step(self, x, y):
        with torch.autocast("cuda", dtype=torch.float16, enabled=self.scaler.is_enabled()):
            loss = torch.nn.functional.mse_loss(self.models["D"](self.models["G"](x)), y)
        for one in self.optimizers.values():
            one.zero_grad()
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizers["G"])
        self.scaler.step(self.optimizers["D"])
        self.scaler.update()
