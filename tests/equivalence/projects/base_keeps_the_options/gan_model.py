import torch
import torch.nn as nn

from base_model import BaseModel

try:
    from apex import amp
except ImportError as error:
    print(error)


class GANModel(BaseModel):
    def __init__(self, opt):
        BaseModel.__init__(self, opt)
        self.netG = nn.Linear(4, 3).cuda()
        self.netD = nn.Linear(3, 1).cuda()
        self.optimizer_G = torch.optim.Adam(self.netG.parameters(), lr=opt.lr)
        self.optimizer_D = torch.optim.Adam(self.netD.parameters(), lr=opt.lr)
        self.optimizers += [self.optimizer_G, self.optimizer_D]
        if opt.fp16:
            [self.netG, self.netD], [self.optimizer_G, self.optimizer_D] = amp.initialize(
                [self.netG, self.netD], [self.optimizer_G, self.optimizer_D], opt_level="O1")

    def forward(self, noise):
        self.fake = self.netG(noise)

    def backward_D(self, real):
        self.loss_D = (self.netD(self.fake.detach()) - self.netD(real)).mean()
        if self.opt.fp16:
            with amp.scale_loss(self.loss_D, self.optimizer_D) as scaled_loss:
                scaled_loss.backward()
        else:
            self.loss_D.backward()

    def backward_G(self):
        self.loss_G = -self.netD(self.fake).mean()
        if self.opt.fp16:
            with amp.scale_loss(self.loss_G, self.optimizer_G) as scaled_loss:
                scaled_loss.backward()
        else:
            self.loss_G.backward()

    def optimize_parameters(self, noise, real):
        self.forward(noise)
        self.set_requires_grad(self.netD, False)
        self.optimizer_G.zero_grad()
        self.backward_G()
        self.optimizer_G.step()
        self.set_requires_grad(self.netD, True)
        self.optimizer_D.zero_grad()
        self.backward_D(real)
        self.optimizer_D.step()
        return self.loss_G.item(), self.loss_D.item()
