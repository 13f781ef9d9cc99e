# expect: manual this step would use other gradients than before
import torch
from apex import amp

net, critic = build().cuda(), build().cuda()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
opt_c = torch.optim.SGD(critic.parameters(), lr=0.1)
[net, critic], [opt, opt_c] = amp.initialize([net, critic], [opt, opt_c], opt_level="O1")
for x, y in loader:
    opt.zero_grad()
    opt_c.zero_grad()
    if x.sum() > 0:
        critic.requires_grad_(False)
    out = net(x)
    loss = critic(out).mean()
    with amp.scale_loss(loss, opt) as scaled_loss:
        scaled_loss.backward()
    loss_c = critic(out.detach()).mean() - critic(y).mean()
    with amp.scale_loss(loss_c, opt_c) as scaled_loss:
        scaled_loss.backward()
    opt.step()
    opt_c.step()
