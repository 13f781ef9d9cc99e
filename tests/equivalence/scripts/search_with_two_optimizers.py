# expect: safe
# shape: architecture search, the clip goes over what both optimizers have; a loss overflows once

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.ops = nn.ModuleList([nn.Linear(4, 4), nn.Sequential(nn.Linear(4, 4), nn.ReLU()), nn.Identity()])
        self.alphas = nn.Parameter(1e-3 * torch.randn(3))
        self.classifier = nn.Linear(4, 2)

    def forward(self, x):
        weights = F.softmax(self.alphas, dim=-1)
        return self.classifier(sum(w * op(x) for w, op in zip(weights, self.ops)))

    def weights(self):
        return [p for name, p in self.named_parameters() if name != "alphas"]


torch.manual_seed(5)
model = Network().cuda()
optimizer = torch.optim.SGD(model.weights(), 0.1, momentum=0.9)
architect = torch.optim.Adam([model.alphas], lr=0.01)
model, [optimizer, architect] = amp.initialize(model, [optimizer, architect], opt_level="O1")
criterion = nn.CrossEntropyLoss()
for step in range(7):
    x, y = torch.randn(4, 4).cuda(), torch.tensor([0, 1, 0, 1]).cuda()
    held_out = torch.randn(4, 4).cuda()

    architect.zero_grad()
    loss_a = criterion(model(held_out), y)
    with amp.scale_loss(loss_a, architect) as scaled:
        scaled.backward()
    architect.step()

    optimizer.zero_grad()
    loss = criterion(model(x), y)
    if step == 3:
        loss = loss * float("inf")
    with amp.scale_loss(loss, optimizer) as scaled:
        scaled.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 5)
    optimizer.step()
    print(step, "%.6f %.6f" % (loss_a.item(), loss.item()), float(norm) > 0)
