import copy
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal
from apex import amp


class Actor(nn.Module):
    def __init__(self, s, a, h):
        super().__init__()
        self.l1 = nn.Linear(s, h)
        self.mu = nn.Linear(h, a)
        self.log_std = nn.Linear(h, a)

    def forward(self, state):
        x = F.relu(self.l1(state))
        log_std = torch.tanh(self.log_std(x)) - 1
        dist = Normal(self.mu(x), log_std.exp())
        u = dist.rsample()
        action = torch.tanh(u)
        log_prob = (dist.log_prob(u) - torch.log(1 - action.pow(2) + 1e-6)).sum(1, keepdim=True)
        return action, log_prob, torch.tanh(self.mu(x))


class Critic(nn.Module):
    def __init__(self, s, a, h):
        super().__init__()
        self.q1 = nn.Sequential(nn.Linear(s + a, h), nn.ReLU(), nn.Linear(h, 1))
        self.q2 = nn.Sequential(nn.Linear(s + a, h), nn.ReLU(), nn.Linear(h, 1))

    def forward(self, s, a):
        sa = torch.cat([s, a], 1)
        return self.q1(sa), self.q2(sa)


class SAC_Agent(object):
    def __init__(self, state_dim, action_dim, hidden, lr, gamma=0.99, tau=0.05, fp16=False, actor_update_freq=2):
        self.actor = Actor(state_dim, action_dim, hidden)
        self.critic = Critic(state_dim, action_dim, hidden)
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.target_entropy = -action_dim
        self.gamma, self.tau, self.fp16, self.freq = gamma, tau, fp16, actor_update_freq
        self.updates = 0
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=lr)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=lr)
        self.log_alpha_optimizer = torch.optim.Adam([self.log_alpha], lr=lr, betas=(0.5, 0.999))
        if fp16:
            [self.actor, self.critic], [self.actor_optimizer, self.critic_optimizer] = amp.initialize(
                [self.actor, self.critic], [self.actor_optimizer, self.critic_optimizer], opt_level='O1', num_losses=2)
        self.critic_target = copy.deepcopy(self.critic)

    @property
    def alpha(self):
        return self.log_alpha.exp().item()

    def select_action(self, state):
        with torch.no_grad():
            return self.actor(torch.from_numpy(state).unsqueeze(0))[0].cpu().numpy()[0]

    def update_critic(self, s, a, r, s2, d):
        with torch.no_grad():
            a2, logp2, _ = self.actor(s2)
            q1, q2 = self.critic_target(s2, a2)
            target = r + (1 - d) * self.gamma * (torch.min(q1, q2) - self.alpha * logp2)
        q1, q2 = self.critic(s, a)
        critic_loss = F.mse_loss(q1, target) + F.mse_loss(q2, target)
        self.critic_optimizer.zero_grad()
        if self.fp16:
            with amp.scale_loss(critic_loss, self.critic_optimizer, loss_id=0) as scaled:
                scaled.backward()
        else:
            critic_loss.backward()
        self.critic_optimizer.step()
        return critic_loss.item()

    def update_actor_and_alpha(self, s):
        a, logp, _ = self.actor(s)
        q1, q2 = self.critic(s, a)
        actor_loss = (self.alpha * logp - torch.min(q1, q2)).mean()
        self.actor_optimizer.zero_grad()
        if self.fp16:
            with amp.scale_loss(actor_loss, self.actor_optimizer, loss_id=1) as scaled:
                scaled.backward()
        else:
            actor_loss.backward()
        self.actor_optimizer.step()
        self.log_alpha_optimizer.zero_grad()
        alpha_loss = (self.log_alpha.exp() * (-logp - self.target_entropy).detach()).mean()
        alpha_loss.backward()
        self.log_alpha_optimizer.step()
        return actor_loss.item()

    def update(self, batch, step):
        critic_loss = self.update_critic(*batch)
        actor_loss = 0.
        self.updates += 1
        if self.updates % self.freq == 0:
            actor_loss = self.update_actor_and_alpha(batch[0])
            for p, tp in zip(self.critic.parameters(), self.critic_target.parameters()):
                tp.data.copy_(self.tau * p.data + (1 - self.tau) * tp.data)
        print('step %d critic %.4f actor %.4f' % (step, critic_loss, actor_loss))
        return critic_loss, actor_loss
