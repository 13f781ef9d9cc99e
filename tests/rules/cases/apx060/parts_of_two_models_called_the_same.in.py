# expect: manual this step would use gradients that are not unscaled rightly
import torch
import torch.nn as nn
from apex import amp


class G(nn.Module):
    def __init__(self):
        super().__init__()
        self.main, self.fc = nn.Linear(2, 2), nn.Linear(2, 2)

    def forward(self, x):
        return self.fc(self.main(x))


class D(nn.Module):
    def __init__(self):
        super().__init__()
        self.main, self.fc = nn.Linear(2, 2), nn.Linear(2, 1)

    def forward(self, x):
        return self.fc(self.main(x))


g, d = G(), D()
opt_g = torch.optim.SGD(g.main.parameters(), lr=0.1)
opt_d = torch.optim.SGD(d.main.parameters(), lr=0.1)
[g, d], [opt_g, opt_d] = amp.initialize([g, d], [opt_g, opt_d], opt_level="O1")
for x in loader:
    loss_d = d(g(x)).mean()
    with amp.scale_loss(loss_d, opt_d) as scaled:
        scaled.backward()
    opt_d.step()
    d.main.zero_grad()
    loss_g = g(x).pow(2).mean()
    with amp.scale_loss(loss_g, opt_g) as scaled:
        scaled.backward()
    opt_g.step()
    opt_g.zero_grad()
