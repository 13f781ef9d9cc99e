# expect: safe
# shape: the base of a callback is one of two classes, of which the second reads gradients between backward and step
import torch
import torch.nn as nn
from apex import amp


class Quiet:
    def __call__(self, model):
        return None


class Clipping:
    def __call__(self, model):
        total = nn.utils.clip_grad_norm_(model.parameters(), 0.05)
        print("norm", f"{float(total):.6f}")


Base = Quiet
if hasattr(nn.utils, "clip_grad_norm_"):
    Base = Clipping


class Callback(Base):
    pass


torch.manual_seed(5)
model = nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
callback = Callback()
for step in range(5):
    x, y = torch.randn(4, 4).cuda(), torch.randn(4, 2).cuda()
    loss = nn.functional.mse_loss(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    callback(model)
    optimizer.step()
    optimizer.zero_grad()
    print(step, f"{loss.item():.6f}")
