import torch

net_d, net_g = build_d().cuda(), build_g().cuda()
opt_d, opt_g = torch.optim.Adam(net_d.parameters()), torch.optim.Adam(net_g.parameters())
scaler_d = torch.amp.GradScaler("cuda")
scaler_g = torch.amp.GradScaler("cuda")
for i, (real, noise) in enumerate(loader):
    with torch.autocast("cuda", dtype=torch.float16):
        loss_d = critic(net_d(real), net_d(net_g(noise).detach()))
    scaler_d.scale(loss_d).backward()
    with torch.autocast("cuda", dtype=torch.float16):
        loss_g = generator_loss(net_g(noise))
    scaler_g.scale(loss_g).backward()
    scaler_d.step(opt_d)
    scaler_d.update()
    opt_d.zero_grad()
    if i % 5 == 4:
        scaler_g.step(opt_g)
        scaler_g.update()
        opt_g.zero_grad()
