# expect: manual is called in the header of a block
import torch
import torch.nn.functional as F
from apex import amp

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    output = model(x)
    if F.binary_cross_entropy(output.float(), y) > 1:
        weight = 2
    loss = F.mse_loss(output, y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    optimizer.zero_grad()
