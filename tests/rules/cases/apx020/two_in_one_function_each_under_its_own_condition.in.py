# expect: manual several initialize calls outside
# expect: manual left as it is
import torch


def create_optimizers(opt, net_g, net_d):
    optimizer_g = torch.optim.Adam(net_g.parameters(), lr=opt.lr)
    optimizer_d = torch.optim.Adam(net_d.parameters(), lr=opt.lr)
    from apex import amp
    if opt.half_g:
        net_g, optimizer_g = amp.initialize(net_g, optimizer_g, opt_level="O1")
    if opt.half_d:
        net_d, optimizer_d = amp.initialize(net_d, optimizer_d, opt_level="O1")
    return net_g, net_d, optimizer_g, optimizer_d


def train(opt, net_g, net_d, loader):
    net_g, net_d, optimizer_g, optimizer_d = create_optimizers(opt, net_g, net_d)
    for z, real in loader:
        fake = net_g(z)
        loss_g = torch.mean((net_d(fake) - 1) ** 2)
        loss_d = torch.mean((net_d(real) - 1) ** 2) + torch.mean(net_d(fake.detach()) ** 2)
        loss_backward(opt, loss_g, optimizer_g)
        loss_backward(opt, loss_d, optimizer_d)


def loss_backward(opt, loss, optimizer):
    optimizer.zero_grad()
    if opt.fp16:
        from apex import amp
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
    else:
        loss.backward()
    optimizer.step()
