# expect: review: several optimizers share this loss
# shape: [o.step() for o in optimizers]

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


def main():
    torch.manual_seed(0)
    trunk, head = nn.Sequential(nn.Linear(4, 8), nn.ReLU()), nn.Linear(8, 3)
    opts = [torch.optim.SGD(trunk.parameters(), lr=0.05), torch.optim.Adam(head.parameters(), lr=0.01)]
    [trunk, head], opts = amp.initialize([trunk, head], opts, opt_level="O1")
    out = []
    for it in range(5):
        x, y = torch.randn(6, 4) * (1e37 if it == 2 else 1), torch.randint(0, 3, (6,))
        loss = F.cross_entropy(head(trunk(x)), y)
        [o.zero_grad() for o in opts]
        with amp.scale_loss(loss, opts) as scaled:
            scaled.backward()
        [o.step() for o in opts]
        out.append(head.weight.sum().item())
    return out


for value in main():
    print("%.6f" % value)
