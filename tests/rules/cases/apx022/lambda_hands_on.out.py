import torch


def loss_backwards(loss, scaler):
    scaler.scale(loss).backward()


class Trainer:
    def __init__(self, model, fp16):
        self.model, self.fp16 = model, fp16
        self.opt = torch.optim.Adam(model.parameters())
        self.scaler = torch.amp.GradScaler("cuda", enabled=bool(fp16))

    def train(self, loader):
        backwards = lambda loss, opt, scaler: loss_backwards(loss, scaler)
        for x in loader:
            with torch.autocast("cuda", dtype=torch.float16, enabled=self.scaler.is_enabled()):
                loss = self.model(x)
            backwards(loss / 2, self.opt, self.scaler)
            self.scaler.step(self.opt)
            self.scaler.update()
            self.opt.zero_grad()
