# expect: safe
# shape: BCELoss after a sigmoid in fp32 (.float() before it), legal under O1, an error under native autocast on CUDA
# casts: real

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(99)
model = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 1)).cuda()
criterion = nn.BCELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for step in range(5):
    x, y = torch.randn(6, 4).cuda(), torch.tensor([0., 1., 1., 0., 1., 0.]).cuda()
    out = model(x).squeeze(1)
    prob = torch.sigmoid(out.float())
    loss = criterion(prob, y)
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    print(step, "%.6f" % loss.item())
