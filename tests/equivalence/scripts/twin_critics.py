# expect: safe
# shape: two networks of one class, an optimizer each, cleared at the head of a round, stepped at its end

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


class Critic(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body, self.head = nn.Linear(4, width), nn.Linear(width, 1)

    def forward(self, state):
        return self.head(torch.relu(self.body(state))).squeeze(1)


torch.manual_seed(4)
first, second = Critic(16).cuda(), Critic(16).cuda()
first_optimizer = torch.optim.Adam(first.parameters(), lr=1e-2)
second_optimizer = torch.optim.Adam(second.parameters(), lr=1e-2)
(first, second), (first_optimizer, second_optimizer) = amp.initialize(
    [first, second], [first_optimizer, second_optimizer], opt_level="O1"
)
for i in range(6):
    state, target = torch.randn(5, 4).cuda(), torch.randn(5).cuda()
    first_optimizer.zero_grad()
    second_optimizer.zero_grad()
    first_loss = F.mse_loss(first(state).float(), target)
    second_loss = F.mse_loss(second(state).float(), target)
    with amp.scale_loss(first_loss, first_optimizer) as scaled:
        scaled.backward()
    with amp.scale_loss(second_loss, second_optimizer) as scaled:
        scaled.backward()
    first_optimizer.step()
    second_optimizer.step()
    print(i, first_loss.item(), second_loss.item())
