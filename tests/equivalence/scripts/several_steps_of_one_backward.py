# expect: safe
# shape: a step that is taken several times with the gradients of one backward

import torch
import torch.nn.functional as F
from apex import amp

torch.manual_seed(3)
model = torch.nn.Linear(6, 3).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
data = [(torch.randn(4, 6).cuda(), torch.randint(0, 3, (4,)).cuda()) for _ in range(4)]
for x, y in data:
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    for _ in range(3):
        optimizer.step()
    print("%.6f" % loss.item())
