# expect: safe

import torch
import torch.nn as nn
from apex import amp

from inner import inner_loop


def main():
    torch.manual_seed(0)
    net = nn.Linear(3, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    net, opt = amp.initialize(net, opt, opt_level="O1", loss_scale="dynamic")
    stats = {}
    inner_loop(net, opt, stats)
    return stats["norms"], stats["skips"], list(net.parameters())


if __name__ == "__main__":
    print(main())
