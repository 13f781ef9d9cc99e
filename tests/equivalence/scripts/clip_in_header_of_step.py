# expect: review: where this step is left out after an overflow
# shape: the clip stands in the condition of the step, once for several backwards

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


def main():
    torch.manual_seed(0)
    model = nn.Linear(4, 3)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    model, opt = amp.initialize(model, opt, opt_level="O1")
    out = []
    accum = 2
    for i in range(8):
        x, y = torch.randn(6, 4) * (100 if i == 2 else 1), torch.randint(0, 3, (6,))
        loss = F.cross_entropy(model(x), y) / accum
        with amp.scale_loss(loss, opt) as scaled:
            scaled.backward()
        if (i + 1) % accum == 0:
            if torch.nn.utils.clip_grad_norm_(amp.master_params(opt), 1.0) < 10:
                opt.step()
            opt.zero_grad()
        out.append(loss.item())
    return out


for value in main():
    print("%.6f" % value)
