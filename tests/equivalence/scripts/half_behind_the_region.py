# expect: review: a product of a half result and a float32 tensor would raise
# shape: outputs are summed, squared and multiplied behind the backward and in the caller, where O1 still cast
# casts: real

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


def epoch(model, optimizer, batches):
    kept, targets, spread, running = [], [], 0.0, torch.zeros(3).cuda()
    for x, y in batches:
        logits = model(x.cuda())
        loss = F.cross_entropy(logits, y.cuda())
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        spread += (300 * logits.detach()).pow(2).sum().item()
        running += F.softmax(logits.detach(), dim=1).sum(0)
        kept.append(logits.detach())
        targets.append(y.cuda())
    return torch.cat(kept), torch.cat(targets), spread, running


torch.manual_seed(21)
model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
batches = [(torch.randn(8, 6), torch.arange(8) % 3) for _ in range(3)]
logits, targets, spread, running = epoch(model, optimizer, batches)
means = F.one_hot(targets, 3).float().t() @ logits
energy = ((300 * logits) ** 2).mean()
print("%.3e %.3e" % (spread, energy.item()))
print(["%.1f" % v for v in running.tolist()], ["%.1f" % v for v in means.flatten().tolist()])
