# expect: safe
# shape: gradients changed by hand between backward and step (noise, a layer frozen for the first steps, a plain loop over p.grad)

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp

freeze_prototypes_niters = 2
torch.manual_seed(89)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.projection_head = nn.Linear(5, 4)
        self.prototypes = nn.Linear(4, 3, bias=False)

    def forward(self, x):
        return self.prototypes(F.normalize(self.projection_head(x), dim=1, p=2))


model = Model().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for iteration in range(6):
    out = model(torch.randn(6, 5).cuda())
    loss = F.cross_entropy(out / 0.1, torch.tensor([0, 1, 2, 2, 1, 0]).cuda())
    # ============ backward and optim step ... ============
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    # cancel gradients for the prototypes
    if iteration < freeze_prototypes_niters:
        for name, p in model.named_parameters():
            if "prototypes" in name:
                p.grad = None
    for p in model.projection_head.parameters():
        p.grad.data.add_(p.data, alpha=0.01)
    optimizer.step()
    print("%d %.6f" % (iteration, loss.item()))
