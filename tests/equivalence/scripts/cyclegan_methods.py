# expect: safe
# shape: forward() / backward_D() / backward_G() / optimize_parameters() with losses and images as attributes

import torch
import torch.nn as nn
from apex import amp


class CycleGANModel:
    def __init__(self, amp_level="O1"):
        self.device = torch.device("cuda:0")
        self.netG_A = nn.Linear(3, 3).to(self.device)
        self.netG_B = nn.Linear(3, 3).to(self.device)
        self.netD_A = nn.Sequential(nn.Linear(3, 3), nn.LeakyReLU(0.2), nn.Linear(3, 1)).to(self.device)
        self.criterionGAN = nn.MSELoss()
        self.criterionCycle = torch.nn.L1Loss()
        self.optimizer_G = torch.optim.Adam(list(self.netG_A.parameters()) + list(self.netG_B.parameters()), lr=0.01)
        self.optimizer_D = torch.optim.Adam(self.netD_A.parameters(), lr=0.01)
        [self.netG_A, self.netG_B, self.netD_A], [self.optimizer_G, self.optimizer_D] = amp.initialize(
            [self.netG_A, self.netG_B, self.netD_A], [self.optimizer_G, self.optimizer_D], opt_level="O1")

    def set_input(self, A, B):
        self.real_A = A.to(self.device)
        self.real_B = B.to(self.device)

    def forward(self):
        """Run forward pass; called by both functions <optimize_parameters> and <test>."""
        self.fake_B = self.netG_A(self.real_A)  # G_A(A)
        self.rec_A = self.netG_B(self.fake_B)   # G_B(G_A(A))

    def set_requires_grad(self, net, requires_grad):
        for param in net.parameters():
            param.requires_grad = requires_grad

    def backward_D(self):
        pred_real = self.netD_A(self.real_B)
        pred_fake = self.netD_A(self.fake_B.detach())
        self.loss_D = (self.criterionGAN(pred_real, torch.ones_like(pred_real))
                       + self.criterionGAN(pred_fake, torch.zeros_like(pred_fake))) * 0.5
        with amp.scale_loss(self.loss_D, self.optimizer_D) as scaled_loss:
            scaled_loss.backward()

    def backward_G(self):
        """Calculate the loss for generators G_A and G_B"""
        pred = self.netD_A(self.fake_B)
        self.loss_GAN = self.criterionGAN(pred, torch.ones_like(pred))
        self.loss_cycle = self.criterionCycle(self.rec_A, self.real_A) * 10.0
        self.loss_G = self.loss_GAN + self.loss_cycle
        with amp.scale_loss(self.loss_G, self.optimizer_G) as scaled_loss:
            scaled_loss.backward()

    def optimize_parameters(self):
        # forward
        self.forward()      # compute fake images and reconstruction images.
        # G_A and G_B
        self.set_requires_grad(self.netD_A, False)  # Ds require no gradients when optimizing Gs
        self.optimizer_G.zero_grad()
        self.backward_G()
        self.optimizer_G.step()
        # D_A
        self.set_requires_grad(self.netD_A, True)
        self.optimizer_D.zero_grad()
        self.backward_D()
        self.optimizer_D.step()


torch.manual_seed(66)
model = CycleGANModel()
for i in range(5):
    model.set_input(torch.randn(4, 3), torch.randn(4, 3))
    model.optimize_parameters()
    print("(iters: %d) G %.6f cycle %.6f D %.6f" % (i, model.loss_GAN.item(), model.loss_cycle.item(), model.loss_D.item()))
