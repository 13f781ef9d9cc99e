# expect: safe
# shape: the scaled loss printed inside and after the with

import torch
import torch.nn as nn
import torch.optim as optim
from apex import amp

torch.manual_seed(1)
model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(8, 2)).cuda()
optimizer = optim.SGD(model.parameters(), lr=1e-2)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
criterion = nn.CrossEntropyLoss().cuda()
history = []
for epoch in range(2):
    for step in range(3):
        img, lab = torch.rand(4, 1, 4, 4).cuda(), torch.tensor([0, 1, 1, 0]).cuda()
        optimizer.zero_grad()
        loss = criterion(model(img), lab)
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
            print("scaled loss:", scaled_loss.item())
        optimizer.step()
        history.append(scaled_loss.item() / 65536)
print(sum(history))
