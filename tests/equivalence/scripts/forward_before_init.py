# expect: safe
# shape: a forward before initialize stays in fp32, a teacher's forward after it ran under O1

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(155)
student, teacher = nn.Linear(4, 3).cuda(), nn.Linear(4, 3).cuda()
probe = torch.randn(2, 4).cuda()
with torch.no_grad():
    print("output shape", tuple(student(probe).shape), "%.6f" % student(probe).sum().item())

optimizer = torch.optim.SGD(student.parameters(), lr=0.3)
student, optimizer = amp.initialize(student, optimizer, opt_level="O1")
teacher.eval()
for p in teacher.parameters():
    p.requires_grad_(False)
for step in range(5):
    x = torch.randn(4, 4).cuda()
    with torch.no_grad():
        target = teacher(x)
    loss = nn.functional.mse_loss(student(x), target)
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    print(step, "%.6f" % loss.item())
