# expect: review `nn.BatchNorm2d` (line 11) and other files run it in float16 under
import torch
import torch.nn.functional as F
from torch import nn
from apex import amp


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 3)
        self.norm = nn.BatchNorm2d(3)
        self.mean, self.var = torch.zeros(3), torch.ones(3)

    def forward(self, x):
        return F.batch_norm(self.norm(self.conv(x)), self.mean, self.var).mean((2, 3))


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
