# expect: review: loss_scale="dynamic": with it Apex scaled the loss at O0 as well
# shape: models= and optimizers= by keyword, enabled and level given together
# argv: --fp16

import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp

parser = argparse.ArgumentParser()
parser.add_argument("--fp16", action="store_true")
parser.add_argument("--opt", default="O1", choices=("O0", "O1"))
cfg = parser.parse_args()

torch.manual_seed(142)
net = nn.Sequential(nn.Linear(3, 6), nn.SiLU(), nn.Linear(6, 2)).cuda()
sgd = torch.optim.SGD(net.parameters(), lr=0.2)
net, sgd = amp.initialize(optimizers=sgd, models=net, enabled=cfg.fp16, opt_level=cfg.opt, loss_scale="dynamic")
for step in range(5):
    logits = net(torch.randn(4, 3).cuda())
    loss = F.cross_entropy(logits, torch.tensor([0, 0, 1, 1]).cuda())
    if cfg.fp16 and cfg.opt == "O1" and step == 1:
        loss = loss * float("inf")
    sgd.zero_grad()
    with amp.scale_loss(loss=loss, optimizers=sgd) as scaled_loss:
        scaled_loss.backward()
    sgd.step()
    print(step, loss.item())
