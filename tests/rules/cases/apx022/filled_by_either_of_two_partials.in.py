# expect: manual called through functools.partial
import functools

import torch
from apex import amp


def train_step(model, optimizer, batch):
    loss = model(batch).mean()
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()


model = torch.nn.Linear(3, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
other = torch.optim.Adam(model.parameters(), lr=0.1)
model, [optimizer, other] = amp.initialize(model, [optimizer, other], opt_level="O1")
step = functools.partial(train_step, model, optimizer)
if late:
    step = functools.partial(train_step, model, other)
for batch in loader:
    step(batch)
