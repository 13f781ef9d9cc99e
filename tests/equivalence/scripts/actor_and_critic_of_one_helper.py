# expect: safe
# shape: actor and critic, each with its optimizer out of one helper that initializes both; cleared at the head of a round

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


def build(width, lr):
    net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, width)).cuda()
    optimizer = torch.optim.Adam(net.parameters(), lr=lr)
    net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
    return net, optimizer


torch.manual_seed(3)
actor, actor_optimizer = build(2, 1e-2)
critic, critic_optimizer = build(1, 2e-2)
for i in range(6):
    state, reward = torch.randn(5, 4).cuda(), torch.randn(5).cuda()
    action = torch.randint(0, 2, (5,)).cuda()
    actor_optimizer.zero_grad()
    critic_optimizer.zero_grad()
    value = critic(state).squeeze(1).float()
    critic_loss = F.mse_loss(value, reward)
    with amp.scale_loss(critic_loss, critic_optimizer) as scaled:
        scaled.backward()
    advantage = (reward - value).detach()
    chosen = F.log_softmax(actor(state).float(), dim=1)[torch.arange(5), action]
    actor_loss = -(chosen * advantage).mean()
    with amp.scale_loss(actor_loss, actor_optimizer) as scaled:
        scaled.backward()
    nn.utils.clip_grad_norm_(critic.parameters(), 0.5)
    nn.utils.clip_grad_norm_(actor.parameters(), 0.5)
    critic_optimizer.step()
    actor_optimizer.step()
    print(i, critic_loss.item(), actor_loss.item())
