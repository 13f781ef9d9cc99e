# expect: review: num_losses=2: Apex kept one loss scale per loss; one GradScaler holds 

import copy, random
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal
from apex import amp


class GaussianPolicy(nn.Module):
    def __init__(self, s, a):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(s, 8), nn.ReLU())
        self.mean, self.log_std = nn.Linear(8, a), nn.Linear(8, a)

    def sample(self, state):
        h = self.trunk(state)
        mean, std = self.mean(h), self.log_std(h).clamp(-20, 2).exp()
        normal = Normal(mean, std)
        x_t = normal.rsample()
        y = torch.tanh(x_t)
        log_prob = (normal.log_prob(x_t) - torch.log(1 - y.pow(2) + 1e-6)).sum(1, keepdim=True)
        return y, log_prob


class QNetwork(nn.Module):
    def __init__(self, s, a):
        super().__init__()
        self.q1 = nn.Sequential(nn.Linear(s + a, 8), nn.ReLU(), nn.Linear(8, 1))
        self.q2 = nn.Sequential(nn.Linear(s + a, 8), nn.ReLU(), nn.Linear(8, 1))

    def forward(self, state, action):
        xu = torch.cat([state, action], 1)
        return self.q1(xu), self.q2(xu)


class ReplayMemory:
    def __init__(self, capacity, seed):
        self.rng, self.capacity, self.buffer = random.Random(seed), capacity, []

    def push(self, *t):
        self.buffer.append(t)
        self.buffer = self.buffer[-self.capacity:]

    def sample(self, n):
        return [torch.stack(x) for x in zip(*self.rng.sample(self.buffer, n))]

    def __len__(self):
        return len(self.buffer)


class SAC(object):
    def __init__(self, args, device):
        self.gamma, self.tau, self.fp16 = args["gamma"], args["tau"], args["fp16"]
        self.device = device
        self.critic = QNetwork(3, 1).to(device)
        self.critic_target = copy.deepcopy(self.critic)
        self.policy = GaussianPolicy(3, 1).to(device)
        self.critic_optim = torch.optim.Adam(self.critic.parameters(), lr=args["lr"])
        self.policy_optim = torch.optim.Adam(self.policy.parameters(), lr=args["lr"])
        self.target_entropy = -1.0
        self.log_alpha = torch.zeros(1, requires_grad=True, device=device)
        self.alpha_optim = torch.optim.Adam([self.log_alpha], lr=args["lr"])
        self.alpha = 0.2
        if self.fp16:
            [self.critic, self.policy], [self.critic_optim, self.policy_optim] = amp.initialize(
                [self.critic, self.policy], [self.critic_optim, self.policy_optim], opt_level="O1", num_losses=2)

    def optimize(self, loss, optim, loss_id):
        optim.zero_grad()
        if self.fp16:
            with amp.scale_loss(loss, optim, loss_id) as scaled:
                scaled.backward()
        else:
            loss.backward()
        optim.step()

    def update_parameters(self, memory, batch_size):
        s, a, r, s2, mask = [t.to(self.device) for t in memory.sample(batch_size)]
        with torch.no_grad():
            a2, logp2 = self.policy.sample(s2)
            q1t, q2t = self.critic_target(s2, a2)
            next_q = r + mask * self.gamma * (torch.min(q1t, q2t) - self.alpha * logp2)
        q1, q2 = self.critic(s, a)
        qf_loss = F.mse_loss(q1, next_q) + F.mse_loss(q2, next_q)
        self.optimize(qf_loss, self.critic_optim, 0)

        pi, logp = self.policy.sample(s)
        policy_loss = ((self.alpha * logp) - torch.min(*self.critic(s, pi))).mean()
        self.optimize(policy_loss, self.policy_optim, 1)

        alpha_loss = -(self.log_alpha * (logp + self.target_entropy).detach()).mean()
        self.alpha_optim.zero_grad()
        alpha_loss.backward()
        self.alpha_optim.step()
        self.alpha = self.log_alpha.exp().item()
        for tp, p in zip(self.critic_target.parameters(), self.critic.parameters()):
            tp.data.copy_(tp.data * (1.0 - self.tau) + p.data * self.tau)
        return qf_loss.item(), policy_loss.item(), alpha_loss.item()


def main():
    torch.manual_seed(42)
    agent = SAC({"gamma": 0.99, "tau": 0.05, "fp16": True, "lr": 3e-3}, torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    memory, log = ReplayMemory(10, seed=1), []
    for t in range(12):
        s = torch.randn(3)
        with torch.no_grad():
            a = agent.policy.sample(s.unsqueeze(0).to(agent.device))[0][0].cpu()
        reward = -(s[:1] - a).abs() if t != 7 else torch.tensor([float("-inf")])
        memory.push(s, a, reward, torch.randn(3), torch.ones(1))
        if len(memory) >= 6:
            log.append(agent.update_parameters(memory, 4))
    finite = [[x if abs(x) < 1e30 else -1.0 for x in row] for row in log]
    return finite, agent.alpha, list(agent.policy.parameters()), list(agent.critic.parameters()), list(agent.critic_target.parameters())


if __name__ == "__main__":
    main()
