import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp
from helper import backward

torch.manual_seed(0)
model = nn.Linear(5, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
losses = []
for _ in range(STEPS):
    loss = F.cross_entropy(model(torch.randn(4, 5)), torch.randint(0, 3, (4,)))
    optimizer.zero_grad()
    backward(loss, optimizer)
    optimizer.step()
    losses.append(loss.item())
