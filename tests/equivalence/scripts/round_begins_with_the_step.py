# expect: safe
# shape: a round begins with the step of the window before, and what is left is stepped behind the loop

import torch
import torch.nn.functional as F
from apex import amp

torch.manual_seed(3)
model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
data = [(torch.randn(4, 6).cuda(), torch.randint(0, 3, (4,)).cuda()) for _ in range(7)]
for n, (x, y) in enumerate(data):
    if n % 2 == 0:
        optimizer.step()
        optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y) / 2
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    print("%.6f" % loss.item())
optimizer.step()
optimizer.zero_grad()
