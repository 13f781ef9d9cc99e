# expect: review: num_losses=3: Apex kept one loss scale per loss; one GradScaler holds 

"""DCGAN on toy images, after the example of NVIDIA/apex (three losses, three loss ids)."""
import argparse

import torch
import torch.nn as nn

try:
    from apex import amp
except ImportError:
    raise ImportError("Please install apex from https://www.github.com/nvidia/apex to run this example.")

parser = argparse.ArgumentParser()
parser.add_argument("--nz", type=int, default=6)
parser.add_argument("--ngf", type=int, default=4)
parser.add_argument("--ndf", type=int, default=4)
parser.add_argument("--niter", type=int, default=2)
parser.add_argument("--lr", type=float, default=0.0002)
parser.add_argument("--beta1", type=float, default=0.5)
parser.add_argument("--manualSeed", type=int, default=2809)
parser.add_argument("--opt_level", default="O1", help='amp opt_level, default="O1"')


def weights_init(m):
    classname = m.__class__.__name__
    if classname.find("Conv") != -1:
        m.weight.data.normal_(0.0, 0.02)
    elif classname.find("BatchNorm") != -1:
        m.weight.data.normal_(1.0, 0.02)
        m.bias.data.fill_(0)


class Generator(nn.Module):
    def __init__(self, nz, ngf):
        super(Generator, self).__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(nz, ngf * 2, 4, 1, 0, bias=False), nn.BatchNorm2d(ngf * 2), nn.ReLU(True),
            nn.ConvTranspose2d(ngf * 2, 1, 4, 2, 1, bias=False), nn.Tanh())

    def forward(self, input):
        return self.main(input)


class Discriminator(nn.Module):
    def __init__(self, ndf):
        super(Discriminator, self).__init__()
        self.main = nn.Sequential(
            nn.Conv2d(1, ndf, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(ndf, 1, 4, 1, 0, bias=False))

    def forward(self, input):
        return self.main(input).view(-1, 1).squeeze(1)


def main():
    opt = parser.parse_args([])
    torch.manual_seed(opt.manualSeed)
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    data = torch.rand(12, 1, 8, 8) * 2 - 1
    loader = [data[i:i + 4] for i in range(0, 12, 4)]

    netG = Generator(opt.nz, opt.ngf).to(device)
    netG.apply(weights_init)
    netD = Discriminator(opt.ndf).to(device)
    netD.apply(weights_init)
    criterion = nn.BCEWithLogitsLoss()
    fixed_noise = torch.randn(4, opt.nz, 1, 1, device=device)
    real_label, fake_label = 1.0, 0.0

    optimizerD = torch.optim.Adam(netD.parameters(), lr=opt.lr, betas=(opt.beta1, 0.999))
    optimizerG = torch.optim.Adam(netG.parameters(), lr=opt.lr, betas=(opt.beta1, 0.999))
    [netD, netG], [optimizerD, optimizerG] = amp.initialize(
        [netD, netG], [optimizerD, optimizerG], opt_level=opt.opt_level, num_losses=3)

    log = []
    for epoch in range(opt.niter):
        for i, real_cpu in enumerate(loader):
            # (1) Update D network: maximize log(D(x)) + log(1 - D(G(z)))
            netD.zero_grad()
            real = real_cpu.to(device)
            batch_size = real.size(0)
            label = torch.full((batch_size,), real_label, device=device)
            output = netD(real)
            errD_real = criterion(output, label)
            with amp.scale_loss(errD_real, optimizerD, loss_id=0) as errD_real_scaled:
                errD_real_scaled.backward()
            D_x = output.mean().item()

            noise = torch.randn(batch_size, opt.nz, 1, 1, device=device)
            fake = netG(noise)
            label.fill_(fake_label)
            output = netD(fake.detach())
            errD_fake = criterion(output, label)
            if epoch == 0 and i == 1:
                errD_fake = errD_fake * 1e38  # blows up
            with amp.scale_loss(errD_fake, optimizerD, loss_id=1) as errD_fake_scaled:
                errD_fake_scaled.backward()
            errD = errD_real + errD_fake
            optimizerD.step()

            # (2) Update G network: maximize log(D(G(z)))
            netG.zero_grad()
            label.fill_(real_label)
            output = netD(fake)
            errG = criterion(output, label)
            with amp.scale_loss(errG, optimizerG, loss_id=2) as errG_scaled:
                errG_scaled.backward()
            optimizerG.step()
            log.append((errD.item(), errG.item(), D_x))
            print("[%d/%d][%d/%d] Loss_G: %.4f D(x): %.4f" % (epoch, opt.niter, i, len(loader), errG.item(), D_x))
    fake = netG(fixed_noise)
    return log, fake.detach(), [p.detach() for p in netD.parameters()]


if __name__ == "__main__":
    main()
