# expect: safe
# shape: the phases of a GAN stand in a dictionary and take the same keywords; backward is a default argument

import torch
import torch.nn as nn
from apex import amp


def scaled_backward(loss, optimizer):
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()


def d_step(g, d, real, z, opts, backward=scaled_backward, **unused):
    loss = d(g(z).detach()).mean() - d(real).mean()
    opts["d"].zero_grad()
    backward(loss, opts["d"])
    opts["d"].step()
    return loss


def g_step(g, d, z, opts, backward=scaled_backward, **unused):
    loss = -d(g(z)).mean()
    opts["g"].zero_grad()
    backward(loss, opts["g"])
    opts["g"].step()
    return loss


PHASES = {"d": d_step, "g": g_step}

torch.manual_seed(406)
g, d = nn.Linear(2, 3).cuda(), nn.Linear(3, 1).cuda()
opts = {"g": torch.optim.SGD(g.parameters(), lr=0.1), "d": torch.optim.SGD(d.parameters(), lr=0.1)}
(g, d), (opts["g"], opts["d"]) = amp.initialize([g, d], [opts["g"], opts["d"]], opt_level="O1")
for i in range(4):
    real, z = torch.randn(4, 3).cuda(), torch.randn(4, 2).cuda()
    loss = PHASES["d" if i % 2 else "g"](g=g, d=d, real=real, z=z, opts=opts)
    print(i, "%.6f" % loss.item())
