# expect: safe
# shape: pix2pixHD layout, both losses from one forward, generator steps before the discriminator's backward

import torch
import torch.nn as nn


class Opt:
    fp16 = True
    lr = 0.01


class Pix(nn.Module):
    def __init__(self, opt):
        super(Pix, self).__init__()
        self.netG = nn.Linear(4, 4)
        self.netD = nn.Sequential(nn.Linear(4, 4), nn.LeakyReLU(0.2), nn.Linear(4, 1))
        self.loss_names = ['G_GAN', 'G_L1', 'D_real', 'D_fake']
        self.optimizer_G = torch.optim.Adam(self.netG.parameters(), lr=opt.lr)
        self.optimizer_D = torch.optim.Adam(self.netD.parameters(), lr=opt.lr)

    def forward(self, label, image):
        fake = self.netG(label)
        d_fake = self.netD(fake.detach())
        d_real = self.netD(image)
        g = self.netD(fake)
        return [((g - 1) ** 2).mean(), (fake - image).abs().mean(), ((d_real - 1) ** 2).mean(), (d_fake ** 2).mean()]


opt = Opt()
torch.manual_seed(30)
model = Pix(opt).cuda()
if opt.fp16:
    from apex import amp
    model, [optimizer_G, optimizer_D] = amp.initialize(model, [model.optimizer_G, model.optimizer_D], opt_level='O1')
else:
    optimizer_G, optimizer_D = model.optimizer_G, model.optimizer_D

for total_steps in range(6):
    ############## Forward Pass ######################
    losses = model(torch.randn(3, 4).cuda(), torch.randn(3, 4).cuda())
    # sum per device losses
    losses = [torch.mean(x) if not isinstance(x, int) else x for x in losses]
    loss_dict = dict(zip(model.loss_names, losses))

    # calculate final loss scalar
    loss_D = (loss_dict['D_fake'] + loss_dict['D_real']) * 0.5
    loss_G = loss_dict['G_GAN'] + loss_dict['G_L1']

    ############### Backward Pass ####################
    # update generator weights
    optimizer_G.zero_grad()
    if opt.fp16:
        with amp.scale_loss(loss_G, optimizer_G) as scaled_loss: scaled_loss.backward()
    else:
        loss_G.backward()
    # update discriminator weights (before the generator moves, the graph is shared)
    optimizer_D.zero_grad()
    if opt.fp16:
        with amp.scale_loss(loss_D, optimizer_D) as scaled_loss: scaled_loss.backward()
    else:
        loss_D.backward()
    optimizer_G.step()
    optimizer_D.step()

    errors = {k: v.data.item() if not isinstance(v, int) else v for k, v in loss_dict.items()}
    print(total_steps, ' '.join('%s: %.5f' % kv for kv in sorted(errors.items())))
