# expect: safe
# shape: the same evaluation runs on the untrained model, before initialize, and after every epoch

import torch
import torch.nn as nn
from apex import amp


def evaluate(model, batches):
    total = 0.0
    model.eval()
    with torch.no_grad():
        for x, y in batches:
            total += nn.functional.mse_loss(model(x.cuda()), y.cuda()).item()
    model.train()
    return total


torch.manual_seed(401)
fp16 = True
batches = [(torch.randn(4, 3), torch.randn(4, 2)) for _ in range(3)]
model = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 2)).cuda()
print("untrained %.6f" % evaluate(model, batches))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if fp16:
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for epoch in range(2):
    for x, y in batches:
        loss = nn.functional.mse_loss(model(x.cuda()), y.cuda())
        optimizer.zero_grad()
        if fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
    print("epoch %d %.6f" % (epoch, evaluate(model, batches)))
