# expect: review: one GradScaler in place of three loss scalers
# shape: DCGAN of the Apex examples, num_losses=3, loss_id, list of models and optimizers, two losses into one optimizer

import torch
import torch.nn as nn
import torch.optim as optim
try:
    from apex import amp
except ImportError:
    raise ImportError("Please install apex from https://www.github.com/nvidia/apex to run this example.")

torch.manual_seed(2809)
device = torch.device("cuda:0")
nz, batch_size = 3, 4
real_label, fake_label = 1, 0

netG = nn.Sequential(nn.Linear(nz, 6), nn.ReLU(), nn.Linear(6, 4), nn.Tanh()).to(device)
netD = nn.Sequential(nn.Linear(4, 6), nn.LeakyReLU(0.2), nn.Linear(6, 1)).to(device)
criterion = nn.BCEWithLogitsLoss()
optimizerD = optim.Adam(netD.parameters(), lr=0.01, betas=(0.5, 0.999))
optimizerG = optim.Adam(netG.parameters(), lr=0.01, betas=(0.5, 0.999))
[netD, netG], [optimizerD, optimizerG] = amp.initialize(
    [netD, netG], [optimizerD, optimizerG], opt_level='O1', num_losses=3)

for i in range(5):
    ############################
    # (1) Update D network: maximize log(D(x)) + log(1 - D(G(z)))
    ###########################
    # train with real
    netD.zero_grad()
    real_cpu = torch.randn(batch_size, 4).to(device)
    label = torch.full((batch_size,), float(real_label), device=device)
    output = netD(real_cpu).view(-1)
    errD_real = criterion(output, label)
    with amp.scale_loss(errD_real, optimizerD, loss_id=0) as errD_real_scaled:
        errD_real_scaled.backward()
    D_x = output.mean().item()

    # train with fake
    noise = torch.randn(batch_size, nz, device=device)
    fake = netG(noise)
    label.fill_(fake_label)
    output = netD(fake.detach()).view(-1)
    errD_fake = criterion(output, label)
    with amp.scale_loss(errD_fake, optimizerD, loss_id=1) as errD_fake_scaled:
        errD_fake_scaled.backward()
    errD = errD_real + errD_fake
    optimizerD.step()

    # (2) Update G network: maximize log(D(G(z)))
    netG.zero_grad()
    label.fill_(real_label)  # fake labels are real for generator cost
    output = netD(fake).view(-1)
    errG = criterion(output, label)
    with amp.scale_loss(errG, optimizerG, loss_id=2) as errG_scaled:
        errG_scaled.backward()
    D_G_z2 = output.mean().item()
    optimizerG.step()

    print('[%d] Loss_D: %.4f Loss_G: %.4f D(x): %.4f D(G(z)): %.4f'
          % (i, errD.item(), errG.item(), D_x, D_G_z2))
