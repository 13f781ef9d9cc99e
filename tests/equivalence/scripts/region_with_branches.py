# expect: safe
# shape: long way from the forward to the loss, with if, for, a ternary and logging in between

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp

torch.manual_seed(156)
USE_AUX, MIXUP = True, True


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(6, 6)
        self.main = nn.Linear(6, 3)
        self.aux = nn.ModuleList([nn.Linear(6, 3) for _ in range(2)])

    def forward(self, x):
        f = F.relu(self.stem(x))
        return self.main(f), [a(f) for a in self.aux]


model = Net().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for it in range(6):
    im, lb = torch.randn(4, 6).cuda(), torch.randint(0, 3, (4,)).cuda()
    lam = 0.7 if it % 2 else 1.0
    perm = torch.arange(3, -1, -1)
    optimizer.zero_grad()
    logits, logits_aux = model(lam * im + (1 - lam) * im[perm])
    if MIXUP:
        loss_main = lam * F.cross_entropy(logits, lb) + (1 - lam) * F.cross_entropy(logits, lb[perm])
    else:
        loss_main = F.cross_entropy(logits, lb)
    loss = loss_main
    if USE_AUX:
        weights = [0.4, 0.2]
        for w, aux in zip(weights, logits_aux):
            loss_aux = F.cross_entropy(aux, lb)
            loss = loss + w * loss_aux
        print("aux %.6f" % loss_aux.item())
    reg = sum(p.pow(2).sum() for p in model.parameters())
    loss = loss + 1e-3 * reg if it > 2 else loss
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    print("it %d main %.6f total %.6f" % (it, loss_main.item(), loss.item()))
