# expect: review update() trains without amp; called once amp.initialize had 
import torch
from apex import amp


class Plain:
    def update(self, model, optimizer, loss):
        loss.backward()
        optimizer.step()


class Mixed:
    def update(self, model, optimizer, loss):
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()


model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1", enabled=args.fp16)
strategy = Mixed() if args.fp16 else Plain()
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    strategy.update(model, optimizer, loss)
