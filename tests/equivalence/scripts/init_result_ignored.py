# expect: safe
# shape: the result of initialize ignored, it works in place

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(36)
student = nn.Linear(4, 3).cuda()
teacher = nn.Linear(4, 3).cuda().eval()
optimizer = torch.optim.SGD(student.parameters(), lr=0.5)
amp.initialize([student, teacher], [optimizer], opt_level="O1")
for i in range(6):
    x = torch.randn(6, 4).cuda()
    with torch.no_grad():
        soft = torch.softmax(teacher(x), dim=-1)
    loss = nn.functional.kl_div(torch.log_softmax(student(x), dim=-1), soft, reduction="batchmean")
    if i == 3:
        loss = loss * float("inf")
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    print(i, loss.item())
