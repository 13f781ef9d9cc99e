# expect: safe
# shape: no import torch in the file, only from torch import nn and others

from torch import manual_seed, nn, optim, randn, zeros
from torch.nn.functional import mse_loss
from apex import amp

manual_seed(116)
model = nn.Linear(4, 1).cuda()
optimizer = optim.SGD(model.parameters(), lr=0.2)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for i in range(5):
    loss = mse_loss(model(randn(3, 4).cuda()), zeros(3, 1).cuda())
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    print(i, "%.6f" % loss.item())
