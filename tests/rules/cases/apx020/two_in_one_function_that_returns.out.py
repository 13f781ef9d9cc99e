import torch


def create_optimizers(opt, net_g, net_d):
    optimizer_g = torch.optim.Adam(net_g.parameters(), lr=opt.lr)
    optimizer_d = torch.optim.Adam(net_d.parameters(), lr=opt.lr)
    return net_g, net_d, optimizer_g, optimizer_d


def train(opt, net_g, net_d, loader):
    net_g, net_d, optimizer_g, optimizer_d = create_optimizers(opt, net_g, net_d)
    scaler = torch.amp.GradScaler("cuda", enabled=bool(opt.fp16))
    for z, real in loader:
        with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
            fake = net_g(z)
            loss_g = torch.mean((net_d(fake) - 1) ** 2)
            loss_d = torch.mean((net_d(real) - 1) ** 2) + torch.mean(net_d(fake.detach()) ** 2)
        loss_backward(opt, loss_g, optimizer_g, scaler)
        loss_backward(opt, loss_d, optimizer_d, scaler)


def loss_backward(opt, loss, optimizer, scaler):
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
