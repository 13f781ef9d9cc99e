# expect: safe
# shape: domain adaptation (AdaptSegNet, ADVENT): a critic is frozen while losses go through it, both step at the end

import torch
from torch import nn
import torch.nn.functional as F
from apex import amp


def set_requires_grad(net, requires_grad=False):
    for param in net.parameters():
        param.requires_grad = requires_grad


def main(lambda_adv=0.1):
    torch.manual_seed(11)
    net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4)).cuda()
    net_d = nn.Sequential(nn.Linear(4, 6), nn.LeakyReLU(0.2), nn.Linear(6, 1)).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    opt_d = torch.optim.Adam(net_d.parameters(), lr=0.01)
    (net, net_d), (opt, opt_d) = amp.initialize([net, net_d], [opt, opt_d], opt_level="O1")
    bce, ce = nn.BCEWithLogitsLoss(), nn.CrossEntropyLoss()
    for i_iter in range(6):
        opt.zero_grad()
        opt_d.zero_grad()

        # don't accumulate grads in D
        set_requires_grad(net_d, False)
        images, labels = torch.randn(3, 6).cuda(), torch.randint(0, 4, (3,)).cuda()
        if i_iter == 3:
            images = images * float('inf')
        pred = net(images)
        loss_seg = ce(pred, labels)
        with amp.scale_loss(loss_seg, opt) as scaled_loss:
            scaled_loss.backward()

        pred_target = net(torch.randn(3, 6).cuda())
        d_out = net_d(F.softmax(pred_target, dim=1))
        loss_adv = lambda_adv * bce(d_out, torch.zeros_like(d_out))
        with amp.scale_loss(loss_adv, opt) as scaled_loss:
            scaled_loss.backward()

        # bring back requires_grad
        set_requires_grad(net_d, True)
        for source, label in ((pred.detach(), 0.0), (pred_target.detach(), 1.0)):
            d_out = net_d(F.softmax(source, dim=1))
            loss_d = bce(d_out, torch.full_like(d_out, label)) / 2
            with amp.scale_loss(loss_d, opt_d) as scaled_loss:
                scaled_loss.backward()

        opt.step()
        opt_d.step()
        print(i_iter, "%.6f %.6f %.6f" % (loss_seg.item(), loss_adv.item(), loss_d.item()))


main()
