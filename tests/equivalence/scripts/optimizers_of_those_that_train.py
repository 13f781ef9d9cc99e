# expect: review: may change from one call to the next
# shape: a model makes optimizers and initializes only if it is to train; all of them are tested

import torch
import torch.nn as nn
from apex import amp


class Options:
    def __init__(self, isTrain, fp16):
        self.isTrain, self.fp16, self.lr = isTrain, fp16, 0.01


class Pix2PixModel:
    def __init__(self, opt):
        self.opt = opt
        self.netG = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 3)).cuda()
        if opt.isTrain:
            self.netD = nn.Sequential(nn.Linear(6, 4), nn.LeakyReLU(0.2), nn.Linear(4, 1)).cuda()
            self.criterion = nn.MSELoss()
            self.optimizer_G = torch.optim.Adam(self.netG.parameters(), lr=opt.lr, betas=(0.5, 0.999))
            self.optimizer_D = torch.optim.Adam(self.netD.parameters(), lr=opt.lr, betas=(0.5, 0.999))
            if opt.fp16:
                [self.netG, self.netD], [self.optimizer_G, self.optimizer_D] = amp.initialize(
                    [self.netG, self.netD], [self.optimizer_G, self.optimizer_D], opt_level="O1")

    def forward(self, real):
        self.real, self.fake = real, self.netG(real)

    def judged(self, fake, real):
        answer = self.netD(torch.cat((self.real, fake), 1))
        return self.criterion(answer, torch.full_like(answer, float(real)))

    def backward(self, loss, optimizer):
        if self.opt.fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()

    def optimize_parameters(self, real, target, factor):
        self.forward(real)
        self.optimizer_D.zero_grad()
        loss_d = (self.judged(self.fake.detach(), False) + self.judged(target, True)) * factor
        self.backward(loss_d, self.optimizer_D)
        self.optimizer_D.step()
        self.optimizer_G.zero_grad()
        loss_g = self.judged(self.fake, True)
        self.backward(loss_g, self.optimizer_G)
        self.optimizer_G.step()
        return "%.6f %.6f" % (loss_d.item(), loss_g.item())

    def test(self, real):
        with torch.no_grad():
            self.forward(real)
        return "%.6f" % self.fake.sum().item()


torch.manual_seed(11)
for opt in (Options(False, True), Options(True, False), Options(True, True)):
    model = Pix2PixModel(opt)
    for i in range(5):
        real, target = torch.randn(4, 3).cuda(), torch.randn(4, 3).cuda()
        if opt.isTrain:
            print(i, model.optimize_parameters(real, target, float("inf") if i == 2 else 0.5))
        print(i, model.test(real))
