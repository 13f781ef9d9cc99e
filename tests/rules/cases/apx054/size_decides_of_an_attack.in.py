# expect: review what is looked at is divided by the loss scale
import torch
from apex import amp


class Attack:
    def __init__(self, model):
        self.model, self.kept = model, {}

    def go(self, epsilon=1.0):
        for name, p in self.model.named_parameters():
            if p.grad is not None:
                self.kept[name] = p.data.clone()
                norm = p.grad.norm()
                if norm < 5.0:
                    p.data.add_(epsilon * p.grad / norm)

    def back(self):
        for name, p in self.model.named_parameters():
            p.data = self.kept.get(name, p.data)


model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
attack = Attack(model)
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    attack.go()
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    attack.back()
    optimizer.step()
