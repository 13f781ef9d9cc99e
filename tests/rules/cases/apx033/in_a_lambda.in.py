# expect: manual stands in a lambda here
import torch
import torch.nn.functional as F
from apex import amp

measure = lambda output, y: F.binary_cross_entropy(output.float(), y)
model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    loss = measure(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    optimizer.zero_grad()
