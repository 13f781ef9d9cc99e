# expect: review: several optimizers share this loss: on overflow Apex left out all thei

import numpy as np
import torch
import torch.nn as nn
from torch.autograd import Function
import apex


class GradReverse(Function):
    @staticmethod
    def forward(ctx, x, alpha):
        ctx.alpha = alpha
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.neg() * ctx.alpha, None


def build(d=8):
    feature = nn.Sequential(nn.Embedding(30, d), nn.Flatten(1), nn.Linear(4 * d, d), nn.LeakyReLU(0.1))
    label = nn.Sequential(nn.Linear(d, d), nn.ReLU(), nn.Linear(d, 2))
    domain = nn.Linear(d, 2)
    return feature, label, domain


def batches(n, lo, hi, g):
    for _ in range(n):
        x = torch.randint(lo, hi, (6, 4), generator=g)
        yield x, (x.float().mean(1) > (lo + hi) / 2).long()


def main():
    torch.manual_seed(8)
    np.random.seed(8)
    g = torch.Generator().manual_seed(8)
    F_, C, D = build()
    opt_f = torch.optim.SGD(F_.parameters(), lr=0.1, momentum=0.9)
    opt_h = torch.optim.Adam(list(C.parameters()) + list(D.parameters()), lr=0.01)
    [F_, C, D], [opt_f, opt_h] = apex.amp.initialize([F_, C, D], [opt_f, opt_h], opt_level="O1", verbosity=0)
    ce = nn.CrossEntropyLoss()
    n, logs = 5, []
    for i, ((xs, ys), (xt, _)) in enumerate(zip(batches(n, 0, 20, g), batches(n, 10, 30, g))):
        p = i / n
        alpha = 2. / (1. + np.exp(-10 * p)) - 1
        feat_s, feat_t = F_(xs), F_(xt)
        label_loss = ce(C(feat_s), ys)
        dom_s = ce(D(GradReverse.apply(feat_s, alpha)), torch.zeros(6).long())
        dom_t = ce(D(GradReverse.apply(feat_t, alpha)), torch.ones(6).long())
        loss = label_loss + dom_s + dom_t
        if i == 3:   # reproduces the blow-up of issue 12
            loss = loss * float("inf")
        opt_f.zero_grad(); opt_h.zero_grad()
        with apex.amp.scale_loss(loss, [opt_f, opt_h]) as scaled:
            scaled.backward()
        opt_f.step()
        opt_h.step()
        logs.append([label_loss.item(), dom_s.item(), dom_t.item()])
    for m in (F_, C, D):
        m.eval()
    with torch.no_grad():
        x, y = next(batches(1, 10, 30, g))
        acc = (C(F_(x)).argmax(1) == y).float().mean().item()
    return logs, acc, [p for m in (F_, C, D) for p in m.parameters()]


if __name__ == "__main__":
    main()
