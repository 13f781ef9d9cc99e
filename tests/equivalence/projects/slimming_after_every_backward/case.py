# expect: review
# A term is added to gradients after every micro-batch, and the step is taken after two.

from types import SimpleNamespace

import torch
import torch.nn.functional as F
from data import batches
from model import Net
from prune_utils import BNOptimizer

mixed_precision = True
try:
    from apex import amp
except ImportError:
    mixed_precision = False


def train(opt, accumulate):
    model = Net().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    if mixed_precision:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1", verbosity=1)
    losses = []
    for ni, (x, y) in enumerate(batches(8, 1, bad=(3,)), start=1):
        loss = F.cross_entropy(model(x), y) / accumulate
        losses.append(loss.item())
        if mixed_precision:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        BNOptimizer.updateBN(opt.sr, model.module_list, opt.s, [0])
        if ni % accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()
    return losses, [p.sum() for p in model.parameters()]


def main():
    torch.manual_seed(0)
    return train(SimpleNamespace(sr=True, s=0.01), 2)


if __name__ == "__main__":
    print(main())
