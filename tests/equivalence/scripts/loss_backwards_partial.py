# expect: safe
# shape: loss_backwards(fp16, loss, optimizer, **kwargs) at module level bound with partial
# argv: --fp16
# argv:

import sys
from functools import partial

import torch
from torch import nn
import torch.nn.functional as F

try:
    from apex import amp
    APEX_AVAILABLE = True
except:
    APEX_AVAILABLE = False


def loss_backwards(fp16, loss, optimizer, **kwargs):
    if fp16:
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward(**kwargs)
    else:
        loss.backward(**kwargs)


class Trainer():
    def __init__(self, fp16=False):
        assert not fp16 or fp16 and APEX_AVAILABLE, 'Apex is not available for you to use mixed precision training'
        self.fp16 = fp16
        self.S = nn.Linear(2, 3).cuda()
        self.G = nn.Linear(3, 4).cuda()
        self.D = nn.Linear(4, 1).cuda()
        self.G_opt = torch.optim.Adam(list(self.G.parameters()) + list(self.S.parameters()), lr=1e-2)
        self.D_opt = torch.optim.Adam(self.D.parameters(), lr=1e-2)
        if fp16:
            (self.S, self.G, self.D), (self.G_opt, self.D_opt) = amp.initialize(
                [self.S, self.G, self.D], [self.G_opt, self.D_opt], opt_level='O1')

    def train(self):
        backwards = partial(loss_backwards, self.fp16)
        z, real = torch.randn(4, 2).cuda(), torch.randn(4, 4).cuda()
        # train discriminator
        self.D_opt.zero_grad()
        fake = self.G(self.S(z))
        divergence = (F.relu(1 + self.D(real)) + F.relu(1 - self.D(fake.detach()))).mean()
        backwards(divergence, self.D_opt)
        self.D_opt.step()
        # train generator
        self.G_opt.zero_grad()
        gen_loss = self.D(self.G(self.S(z))).mean()
        backwards(gen_loss, self.G_opt, retain_graph=False)
        self.G_opt.step()
        return divergence.item(), gen_loss.item()


torch.manual_seed(69)
model = Trainer(fp16='--fp16' in sys.argv)
for step in range(5):
    print('%d: D %.6f G %.6f' % ((step,) + model.train()))
