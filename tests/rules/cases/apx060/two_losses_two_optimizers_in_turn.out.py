import torch

net_d, net_g = build_d().cuda(), build_g().cuda()
opt_d, opt_g = torch.optim.Adam(net_d.parameters()), torch.optim.Adam(net_g.parameters())
scaler = torch.amp.GradScaler("cuda")
for real, noise in loader:
    opt_d.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss_d = adversarial(net_d(real), net_d(net_g(noise).detach()))
    scaler.scale(loss_d).backward()
    scaler.step(opt_d)
    scaler.update()
    opt_g.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss_g = generator_loss(net_d(net_g(noise)))
    scaler.scale(loss_g).backward()
    scaler.step(opt_g)
    scaler.update()
