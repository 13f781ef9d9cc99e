import torch


class Lookahead:
    def __init__(self, optimizer, scaler, k=5):
        self.optimizer = optimizer
        self.scaler = scaler
        self.k, self.counter = k, 0

    def step(self, closure=None):
        loss = self.scaler.step(self.optimizer)
        self.scaler.update()
        self.counter += 1
        return loss


model = build().cuda()
base = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
optimizer = Lookahead(base, scaler)
for x, y in loader:
    base.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    optimizer.step()
