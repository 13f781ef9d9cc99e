# expect: safe

import importlib.util

import torch
import torch.nn as nn
import torch.nn.functional as F

from misc import evaluate_eval

HAS_APEX = importlib.util.find_spec("apex") is not None
if HAS_APEX:
    from apex import amp


def train(net, optimizer, loader, fp16=False):
    """One epoch.

    Args:
        net: the network
        optimizer: what steps
        loader: the batches
        fp16: whether to train in half precision
    """
    out = []
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        if fp16 and HAS_APEX:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
        out.append(loss.item())
    return out


def main(fp16=True):
    torch.manual_seed(0)
    net = nn.Linear(5, 3)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    if fp16 and HAS_APEX:
        net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
    data = [(torch.randn(4, 5), torch.randint(0, 3, (4,))) for _ in range(4)]
    record = {}
    out = train(net, optimizer, data, fp16)
    hist = torch.ones(3, 3) * out[-1]
    out.append(evaluate_eval(record, net, optimizer, hist))
    return out, sorted(record), list(net.parameters())


if __name__ == "__main__":
    print(main())
