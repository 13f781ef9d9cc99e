import torch
from apex import amp

amp.register_half_function(torch, "einsum")
amp.register_float_function(torch.nn.functional, "softmax")
amp.register_promote_function(torch, "where")
model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
