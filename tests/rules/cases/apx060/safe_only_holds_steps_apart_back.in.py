# settings: safe_only=true
# expect: review each gets a scaler of its own
import torch
from apex import amp

net_d, net_g = build_d().cuda(), build_g().cuda()
opt_d, opt_g = torch.optim.Adam(net_d.parameters()), torch.optim.Adam(net_g.parameters())
[net_d, net_g], [opt_d, opt_g] = amp.initialize([net_d, net_g], [opt_d, opt_g], opt_level="O1")
for i, (real, noise) in enumerate(loader):
    loss_d = critic(net_d(real), net_d(net_g(noise).detach()))
    with amp.scale_loss(loss_d, opt_d) as scaled_d:
        scaled_d.backward()
    loss_g = generator_loss(net_g(noise))
    with amp.scale_loss(loss_g, opt_g) as scaled_g:
        scaled_g.backward()
    opt_d.step()
    if i % 5 == 4:
        opt_g.step()
        opt_g.zero_grad()
    opt_d.zero_grad()
