# expect: safe
# shape: the model call stands inside the scale_loss argument

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(70)
model = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
model, optimizer = amp.initialize(model, optimizer, opt_level='O1')
criterion = nn.CrossEntropyLoss()
for i in range(5):
    x, y = torch.randn(6, 3).cuda(), torch.tensor([0, 1, 0, 1, 1, 0]).cuda()
    optimizer.zero_grad()
    with amp.scale_loss(criterion(model(x), y), optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    print(i, "%.6f" % model[0].weight.sum().item())
