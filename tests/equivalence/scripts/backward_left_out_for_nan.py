# expect: safe
# shape: the backward of a loss that is not a number is left out, and the step is taken all the same

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


def train(args):
    torch.manual_seed(3)
    model = nn.Linear(4, 3).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=0.01)
    if args.fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    data = [(torch.randn(6, 4).cuda(), torch.randint(0, 3, (6,)).cuda()) for _ in range(12)]
    factors = [float("nan"), float("nan"), 1.0, 1.0, float("nan"), 1.0, 1e36, 1.0, 1.0, float("nan"), 1.0, 1.0]
    waiting = 0
    for epoch in range(2):
        for (x, y), factor in zip(data, factors):
            if waiting == 0:
                optimizer.zero_grad(set_to_none=args.none)
            loss = F.cross_entropy(model(x), y) * factor / args.accumulate
            if torch.isnan(loss).any():
                print("left out")
            else:
                if args.fp16:
                    with amp.scale_loss(loss, optimizer) as scaled_loss:
                        scaled_loss.backward()
                else:
                    loss.backward()
                waiting += 1
            if waiting % args.accumulate == 0:
                norm = 0.0
                for p in model.parameters():
                    if p.grad is not None:
                        norm += p.grad.norm().item() ** 2
                print("%.6f" % norm)
                optimizer.step()
                waiting = 0
    print(model.weight)


class Args:
    fp16 = True
    none = True
    accumulate = 2


train(Args())
