# exported: float_function
# expect: manual amp.float_function is handed on as an object here
import torch
from extension import _C
from apex import amp

float_function = amp.float_function
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
