# expect: manual

import torch
import torch.nn as nn

from loop import loop
from third_party import mixed_precision as mp


def main():
    torch.manual_seed(0)
    net = nn.Linear(3, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    if mp is not None:
        net, opt = mp.initialize(net, opt, opt_level="O1")
    return loop(net, opt), list(net.parameters())


if __name__ == "__main__":
    print(main())
