# expect: manual step()
import torch
try:
    from apex import amp
    HAS_APEX = True
except ImportError:
    HAS_APEX = False


def backward(loss, optimizer):
    if not HAS_APEX:
        raise ImportError("Please install apex")
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()


model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    backward(criterion(model(x), y), optimizer)
    take_step(optimizer)
