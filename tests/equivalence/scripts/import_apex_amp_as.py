# expect: safe
# shape: import apex.amp as A, other names for targets

import apex.amp as A
import torch
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(25)
backbone = nn.Linear(3, 4).cuda()
solver = optim.Adagrad(backbone.parameters(), lr=0.1)
net, amp_solver = A.initialize(backbone, solver, opt_level='O1')
for k in range(5):
    amp_solver.zero_grad()
    energy = net(torch.randn(6, 3).cuda()).exp().mean()
    with A.scale_loss(energy, amp_solver) as scaled_energy:
        scaled_energy.backward()
    amp_solver.step()
    print(k, round(energy.item(), 6), backbone is net)
