# expect: safe
# shape: initialize in __init__ with nested destructuring into attributes, step in another method

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


class StyleGAN(nn.Module):
    def __init__(self, dim=3, lr=2e-3, fp16=False):
        super().__init__()
        self.G = nn.Sequential(nn.Linear(2, dim), nn.LeakyReLU(0.2), nn.Linear(dim, dim))
        self.D = nn.Sequential(nn.Linear(dim, 4), nn.LeakyReLU(0.2), nn.Linear(4, 1))
        self.G_opt = torch.optim.Adam(self.G.parameters(), lr=lr, betas=(0.5, 0.9))
        self.D_opt = torch.optim.Adam(self.D.parameters(), lr=lr, betas=(0.5, 0.9))
        self.cuda()
        self.fp16 = fp16
        if fp16:
            (self.G, self.D), (self.G_opt, self.D_opt) = amp.initialize(
                [self.G, self.D], [self.G_opt, self.D_opt], opt_level='O1')


class Trainer:
    def __init__(self):
        self.GAN = StyleGAN(fp16=True)

    def train(self, steps):
        GAN = self.GAN
        for i in range(steps):
            z, img = torch.randn(4, 2).cuda(), torch.randn(4, 3).cuda()
            GAN.D_opt.zero_grad()
            fake_out = GAN.D(GAN.G(z).detach())
            real_out = GAN.D(img)
            disc_loss = (F.relu(1 + real_out) + F.relu(1 - fake_out)).mean()
            with amp.scale_loss(disc_loss, GAN.D_opt) as scaled_loss:
                scaled_loss.backward()
            GAN.D_opt.step()

            GAN.G_opt.zero_grad()
            gen_loss = GAN.D(GAN.G(z)).mean()
            with amp.scale_loss(gen_loss, GAN.G_opt) as scaled_loss:
                scaled_loss.backward()
            GAN.G_opt.step()
            print("D: %.5f | G: %.5f" % (disc_loss.item(), gen_loss.item()))


torch.manual_seed(39)
Trainer().train(5)
