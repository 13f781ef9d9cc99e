import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp

from base_model import BaseModel


class GAN(BaseModel):
    def __init__(self, opt):
        super().__init__(opt)
        self.G = nn.Linear(opt.nz, 3)
        self.D = nn.Linear(3, 1)
        self.optimizers["G"] = torch.optim.Adam(self.G.parameters(), lr=opt.lr)
        self.optimizers["D"] = torch.optim.Adam(self.D.parameters(), lr=opt.lr)
        self.setup_amp()

    def set_input(self, real):
        self.real = real
        self.z = torch.randn(len(real), self.opt.nz)

    def backward(self, loss, name, loss_id):
        if self.opt.fp16:
            with amp.scale_loss(loss, self.optimizers[name], loss_id=loss_id) as scaled:
                scaled.backward()
        else:
            loss.backward()

    def optimize_parameters(self):
        fake = self.G(self.z)
        self.optimizers["D"].zero_grad()
        pred_real, pred_fake = self.D(self.real), self.D(fake.detach())
        self.loss_D = F.softplus(-pred_real).mean() + F.softplus(pred_fake).mean()
        self.backward(self.loss_D, "D", 0)
        self.optimizers["D"].step()
        self.optimizers["G"].zero_grad()
        self.loss_G = F.softplus(-self.D(fake)).mean()
        self.backward(self.loss_G, "G", 1)
        self.optimizers["G"].step()

    def get_losses(self):
        return self.loss_G.item(), self.loss_D.item()
