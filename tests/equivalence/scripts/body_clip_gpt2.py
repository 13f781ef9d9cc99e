# expect: review: each micro-batch was clipped for itself, still scaled; now their sum is, at the step
# differs: weights|stdout
# shape: GPT2-Chinese: clip inside the with body and in the plain arm, the step under the accumulation's condition

import torch
import torch.nn as nn
from apex import amp

fp16 = True
gradient_accumulation, max_grad_norm = 2, 1.0
torch.manual_seed(170)
model = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 2)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=20.0)
if fp16:
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
running_loss = 0
for step in range(8):
    loss = model(torch.randn(3, 4).cuda()).pow(2).mean()
    if gradient_accumulation > 1:
        loss = loss / gradient_accumulation
    if fp16:
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
            torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), max_grad_norm)
    else:
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)
    if (step + 1) % gradient_accumulation == 0:
        running_loss += loss.item()
        optimizer.step()
        optimizer.zero_grad()
    print(step, "%.6f" % loss.item())
print("%.4f" % running_loss)
