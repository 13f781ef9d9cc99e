# expect: safe

import torch
import torch.nn as nn
from apex import amp

from gen.engine import train as train_gen
from critic.engine import train as train_dis


def main():
    torch.manual_seed(0)
    g, d = nn.Linear(2, 3), nn.Linear(3, 1)
    og, od = torch.optim.SGD(g.parameters(), lr=0.1), torch.optim.SGD(d.parameters(), lr=0.1)
    [g, d], [og, od] = amp.initialize([g, d], [og, od], opt_level="O1")
    out = []
    for _ in range(3):
        real, z = torch.randn(4, 3), torch.randn(4, 2)
        out.append(train_dis(d, g, od, real, z))
        out.append(train_gen(d, g, og, z))
    return out, list(g.parameters()), list(d.parameters())


if __name__ == "__main__":
    print(main())
