# expect: review: one GradScaler in place of three loss scalers
# shape: loss_backwards(fp16, loss, optimizer, loss_id, **kwargs), num_losses=3, gradient accumulation in an inner loop

from functools import partial

import torch
from torch import nn
import torch.nn.functional as F
from apex import amp


def loss_backwards(fp16, loss, optimizer, loss_id, **kwargs):
    if fp16:
        with amp.scale_loss(loss, optimizer, loss_id) as scaled_loss:
            scaled_loss.backward(**kwargs)
    else:
        loss.backward(**kwargs)


class GAN(nn.Module):
    def __init__(self, fp16=True):
        super().__init__()
        self.G, self.D = nn.Linear(2, 3), nn.Linear(3, 1)
        self.G_opt = torch.optim.Adam(self.G.parameters(), lr=1e-2)
        self.D_opt = torch.optim.Adam(self.D.parameters(), lr=1e-2)
        self.cuda()
        if fp16:
            (self.G, self.D), (self.G_opt, self.D_opt) = amp.initialize(
                [self.G, self.D], [self.G_opt, self.D_opt], opt_level='O1', num_losses=3)


class Trainer():
    def __init__(self, gradient_accumulate_every=2):
        self.GAN, self.fp16 = GAN(), True
        self.gradient_accumulate_every = gradient_accumulate_every

    def train(self):
        backwards = partial(loss_backwards, self.fp16)
        total_disc_loss, total_gen_loss = 0., 0.
        # train discriminator
        self.GAN.D_opt.zero_grad()
        for i in range(self.gradient_accumulate_every):
            fake = self.GAN.G(torch.randn(3, 2).cuda()).detach()
            real = torch.randn(3, 3).cuda()
            disc_loss = (F.relu(1 + self.GAN.D(real)) + F.relu(1 - self.GAN.D(fake))).mean()
            disc_loss = disc_loss / self.gradient_accumulate_every
            backwards(disc_loss, self.GAN.D_opt, loss_id=1)
            total_disc_loss += disc_loss.detach().item()
        self.GAN.D_opt.step()
        # train generator
        self.GAN.G_opt.zero_grad()
        for i in range(self.gradient_accumulate_every):
            gen_loss = self.GAN.D(self.GAN.G(torch.randn(3, 2).cuda())).mean() / self.gradient_accumulate_every
            backwards(gen_loss, self.GAN.G_opt, loss_id=2)
            total_gen_loss += gen_loss.detach().item()
        self.GAN.G_opt.step()
        return total_disc_loss, total_gen_loss


torch.manual_seed(164)
t = Trainer()
for step in range(4):
    print("D %.6f G %.6f" % t.train())
