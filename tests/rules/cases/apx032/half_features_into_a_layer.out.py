import torch
from torch import nn


class Linear:
    def __init__(self, enc):
        self.enc = enc
        self.lin = nn.Linear(4, 2)
        self.opt = torch.optim.SGD(self.lin.parameters(), lr=0.5)

    def fit(self, data):
        for x, y in data:
            with torch.no_grad(), torch.autocast("cuda", dtype=torch.float16):
                h = self.enc(x)
            p = self.lin(h.float())
            energy(p, y).backward()
            self.opt.step()


model = nn.Linear(3, 4).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
Linear(model).fit(loader)
