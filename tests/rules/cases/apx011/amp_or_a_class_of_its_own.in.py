# expect: manual may hold something else too
import torch
from apex import amp


class NoAmp:
    def initialize(self, model, optimizer, opt_level):
        return model, optimizer


backend = amp if args.fp16 else NoAmp()
model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = backend.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
