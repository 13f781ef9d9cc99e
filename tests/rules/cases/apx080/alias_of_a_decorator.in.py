import torch
from extension import _C

try:
    from apex import amp

    float_function = amp.float_function
except ImportError:
    print("fp16 needs apex")

    def float_function(func):
        return func


nms = float_function(_C.nms)

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
