# expect: safe
# shape: from apex.parallel import in the same try as amp, stays behind
# leaves: apex.parallel

import os

import torch
import torch.nn as nn

try:
    from apex.parallel import DistributedDataParallel as DDP
    from apex import amp
except ImportError:
    raise ImportError("Please install apex from https://www.github.com/nvidia/apex to run this example.")

distributed = int(os.environ.get('APEX_TEST_WORLD_SIZE', '1')) > 1
torch.manual_seed(29)
model = nn.Linear(5, 5).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
if distributed:
    # By default, apex.parallel.DistributedDataParallel overlaps communication with
    # computation in the backward pass.
    model = DDP(model, delay_allreduce=True)
criterion = nn.MSELoss().cuda()
for step in range(4):
    output = model(torch.ones(2, 5).cuda() * step)
    loss = criterion(output, torch.ones(2, 5).cuda())
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    print("loss = ", loss.item())
