# expect: review: the clip after every micro-batch moves under the step's condition
# shape: older HuggingFace shape, clip not under the accumulation condition, the clip bites
# differs: weights|stdout

import torch
import torch.nn as nn
from apex import amp

accumulation_steps = 2
max_grad_norm = 0.1
torch.manual_seed(13)
model = nn.Sequential(nn.Linear(5, 5), nn.Tanh(), nn.Linear(5, 2)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
model.zero_grad()
for step in range(8):
    x, y = torch.randn(4, 5).cuda(), torch.randint(0, 2, (4,)).cuda()
    loss = nn.functional.cross_entropy(model(x), y)
    loss = loss / accumulation_steps
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), max_grad_norm)
    if (step + 1) % accumulation_steps == 0:
        optimizer.step()
        model.zero_grad()
    print("%d %.6f" % (step, loss.item()))
