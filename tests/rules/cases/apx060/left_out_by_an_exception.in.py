# expect: review its skip stayed armed
import torch
from apex import amp


def train_step(model, optimizer, x, y):
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    if norm > 100:
        raise RuntimeError("exploded")
    optimizer.step()


model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    try:
        train_step(model, optimizer, x, y)
    except RuntimeError as error:
        print(error)
