# expect: review in float32, whoever called it; `F.relu`, which is handed on (line 8), and other files run it in
import torch
import torch.nn.functional as F
from apex import amp

amp.register_float_function(F, "relu")


activation = F.relu
model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(activation(model(x)), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
