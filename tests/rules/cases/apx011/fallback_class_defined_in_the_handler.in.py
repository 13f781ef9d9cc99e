# rule: APX010
import torch
try:
    from apex import amp
    from apex.normalization import FusedLayerNorm as LayerNorm
except ImportError:
    LayerNorm = torch.nn.LayerNorm

model = torch.nn.Sequential(build(), LayerNorm(8)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
