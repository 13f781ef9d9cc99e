# expect: review: outputs in half are turned into float32 before .numpy()
# shape: predictions of the training batches collected through .cpu().data.numpy() for a metric
# casts: real

import numpy as np
import torch
from torch import nn
from apex import amp

torch.manual_seed(106)
model = nn.Linear(4, 1).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1", verbosity=0)
train_preds = []
for step in range(4):
    x, y = torch.randn(3, 4).cuda(), torch.ones(3, 1).cuda()
    out = model(x)
    loss = nn.BCEWithLogitsLoss()(out, y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    train_preds.append(out.detach().cpu().numpy())
train_preds = np.concatenate(train_preds)
print(train_preds.shape, train_preds.dtype, "%.6f" % train_preds.mean())
