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
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
first = functools.partial(train_step, model)
step = functools.partial(first, optimizer)
for batch in loader:
    step(batch)
