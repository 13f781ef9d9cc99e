# expect: review: with a static scale Apex never skips a step
# shape: loss_scale=128.0, no overflow

import torch
from apex import amp

torch.manual_seed(12)
model = torch.nn.Linear(10, 3).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1", loss_scale=128.0)
loss_fn = torch.nn.MSELoss()
for t in range(6):
    x, y = torch.randn(16, 10).cuda(), torch.randn(16, 3).cuda()
    optimizer.zero_grad()
    y_pred = model(x)
    loss = loss_fn(y_pred, y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    print("loss", t, loss.item())
