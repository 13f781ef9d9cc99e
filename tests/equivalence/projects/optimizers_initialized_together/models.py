import torch


def create_optimizers(opt, net_g, net_d):
    optimizer_g = torch.optim.Adam(net_g.parameters(), lr=opt.lr)
    optimizer_d = torch.optim.Adam(net_d.parameters(), lr=opt.lr)
    optimizers_t = []
    for scale in range(opt.scales):
        optimizers_t.append(torch.optim.SGD(net_d.parameters(), lr=opt.lr / (scale + 1)))
    if opt.fp16:
        from apex import amp
        net_g, optimizer_g = amp.initialize(net_g, optimizer_g, opt_level="O1")
        net_d, optimizers = amp.initialize(net_d, [optimizer_d] + optimizers_t, opt_level="O1")
        optimizer_d, optimizers_t = optimizers[0], optimizers[1:]
    return net_g, net_d, optimizer_g, optimizer_d, optimizers_t
