# expect: review a product of a float16 result and a float32 tensor outside of autocast is an error natively
import torch
from torch import nn
from apex import amp


class Linear:
    def __init__(self, enc):
        self.enc = enc
        self.lin = nn.Linear(4, 2)
        self.opt = torch.optim.SGD(self.lin.parameters(), lr=0.5)

    def fit(self, data):
        for x, y in data:
            with torch.no_grad():
                h = self.enc(x)
            p = self.lin(h)
            energy(p, y).backward()
            self.opt.step()


model = nn.Linear(3, 4).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
Linear(model).fit(loader)
