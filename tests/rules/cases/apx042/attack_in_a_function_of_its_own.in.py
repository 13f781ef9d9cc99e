# expect: manual
import torch
from apex import amp

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
def once(x, y):
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()


def attack(x, y):
    for _ in range(3):
        loss_adv = criterion(model(x), y)
        loss_adv.backward()


for x, y in loader:
    once(x, y)
    attack(x, y)
    optimizer.step()
