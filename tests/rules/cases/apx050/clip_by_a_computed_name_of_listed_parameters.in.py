import torch
from apex import amp

from options import args
model = build().cuda()
parameters = [p for p in model.parameters() if p.requires_grad]
optimizer = torch.optim.SGD(parameters, lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    getattr(torch.nn.utils, "clip_grad_%s_" % args.mode)(parameters, args.clip)
    optimizer.step()
