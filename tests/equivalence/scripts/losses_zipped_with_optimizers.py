# expect: safe
# shape: zip hands out each loss with its optimizer; a list of pairs, too
# argv: --fp16
# argv:

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp

parser = argparse.ArgumentParser()
parser.add_argument("--fp16", action="store_true")
args = parser.parse_args()
torch.manual_seed(7)
actor, critic = nn.Linear(4, 2).cuda(), nn.Linear(4, 1).cuda()
actor_optimizer = torch.optim.SGD(actor.parameters(), lr=0.1)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=0.1)
if args.fp16:
    [actor, critic], [actor_optimizer, critic_optimizer] = amp.initialize(
        [actor, critic], [actor_optimizer, critic_optimizer], opt_level="O1"
    )
for step in range(4):
    x, returns = torch.randn(5, 4).cuda(), torch.randn(5).cuda()
    values = critic(x).squeeze(1)
    advantage = (returns - values).detach()
    actor_loss = -(F.log_softmax(actor(x), 1)[:, 0] * advantage).mean()
    critic_loss = F.mse_loss(values, returns)
    actor_optimizer.zero_grad()
    critic_optimizer.zero_grad()
    losses = (actor_loss, critic_loss)
    for index, (loss, optimizer) in enumerate(zip(losses, (actor_optimizer, critic_optimizer))):
        if args.fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
    for optimizer in (actor_optimizer, critic_optimizer):
        optimizer.step()
    print(step, "%.5f %.5f" % (actor_loss.item(), critic_loss.item()))
