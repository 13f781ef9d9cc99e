# expect: safe
# shape: scale_loss beside another context manager in one with statement
# casts: real

import contextlib

import torch
from apex import amp


@contextlib.contextmanager
def stage(name, log):
    log.append("begin " + name)
    yield
    log.append("end " + name)


torch.manual_seed(5)
log = []
model = torch.nn.Linear(4, 4).cuda()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
model, opt = amp.initialize(model, opt)
for it in range(4):
    opt.zero_grad()
    with stage("forward", log):
        loss = torch.nn.functional.smooth_l1_loss(model(torch.ones(2, 4).cuda()), torch.zeros(2, 4).cuda())
    with stage("backward", log), amp.scale_loss(loss, opt) as scaled_loss:
        scaled_loss.backward()
    opt.step()
    print("%.6f" % loss.item())
print(" / ".join(log))
