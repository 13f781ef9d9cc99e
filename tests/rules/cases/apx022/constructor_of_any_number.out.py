import torch


class MultipleOptimizer:
    def __init__(self, *optimizers, scaler):
        self.optimizers = optimizers
        self.scaler = scaler

    def step(self):
        for o in self.optimizers:
            self.scaler.step(o)
        self.scaler.update()


def main(model, loader):
    a = torch.optim.AdamW(model.dense.parameters(), lr=0.1)
    b = torch.optim.Adagrad(model.embedding.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    both = MultipleOptimizer(a, b, scaler=scaler)
    for x, y in loader:
        model.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = criterion(model(x), y)
        scaler.scale(loss).backward()
        both.step()
