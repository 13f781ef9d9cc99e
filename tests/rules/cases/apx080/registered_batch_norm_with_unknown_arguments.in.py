# expect: manual amp.register_float_function(torch, 'batch_norm')
import torch
import torch.nn.functional as F
from torch import nn
from apex import amp


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 3)
        self.norm = nn.BatchNorm2d(3)

    def normed(self, x):
        return self.norm(self.conv(x)), torch.zeros(3), torch.ones(3)

    def forward(self, x):
        return F.batch_norm(*self.normed(x)).mean((2, 3))


def train(loader, half_prec):
    model = Net().cuda()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    if half_prec:
        amp.register_float_function(torch, 'batch_norm')
        model, opt = amp.initialize(model, opt, opt_level="O1")
    for x, y in loader:
        opt.zero_grad()
        loss = F.cross_entropy(model(x), y)
        if half_prec:
            with amp.scale_loss(loss, opt) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        opt.step()
