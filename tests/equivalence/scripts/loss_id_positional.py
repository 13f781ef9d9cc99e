# expect: review: one GradScaler in place of two loss scalers
# shape: loss_id positional, from a table of tasks

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(61)
tasks = ['mlm', 'itm']
task2scaler = {t: i for i, t in enumerate(tasks)}
model = nn.ModuleDict({t: nn.Linear(3, 2) for t in tasks}).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, num_losses=len(task2scaler), opt_level='O1')
for step in range(6):
    name = tasks[step % 2]
    x = torch.randn(4, 3).cuda()
    loss = nn.functional.cross_entropy(model[name](x), torch.tensor([0, 1, 1, 0]).cuda())
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer, task2scaler[name]) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    print(name, "%.6f" % loss.item())
