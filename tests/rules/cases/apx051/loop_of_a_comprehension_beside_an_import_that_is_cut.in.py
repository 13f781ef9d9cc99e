import torch
from apex import amp, normalization

model = torch.nn.Sequential(build(), normalization.FusedLayerNorm(4)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    loss = criterion(model(x), y)
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    torch.nn.utils.clip_grad_norm_([p for p in amp.master_params(optimizer)], 1.0)
    optimizer.step()
