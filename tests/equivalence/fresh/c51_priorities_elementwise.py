# expect: safe
# casts: real

"""Categorical DQN agent with importance weights (shape of Kaixhin/Rainbow)."""
import numpy as np
import torch
from torch import nn, optim
from torch.nn import functional as F
from torch.nn.utils import clip_grad_norm_
from apex import amp


class DQN(nn.Module):
    def __init__(self, atoms, action_space):
        super().__init__()
        self.atoms, self.action_space = atoms, action_space
        self.fc_h = nn.Linear(4, 8)
        self.fc_z = nn.Linear(8, action_space * atoms)

    def forward(self, x, log=False):
        q = self.fc_z(F.relu(self.fc_h(x))).view(-1, self.action_space, self.atoms)
        return F.log_softmax(q, dim=2) if log else F.softmax(q, dim=2)


class Memory:
    def __init__(self, n, seed):
        rng = np.random.RandomState(seed)
        self.priorities = np.ones(n, dtype=np.float32)
        self.s = torch.from_numpy(rng.randn(n, 4).astype(np.float32))
        self.ns = torch.from_numpy(rng.randn(n, 4).astype(np.float32))
        self.a = torch.from_numpy(rng.randint(0, 2, n))
        self.r = torch.from_numpy(rng.uniform(-1, 1, n).astype(np.float32))
        self.rng = rng

    def sample(self, k):
        p = self.priorities / self.priorities.sum()
        idxs = self.rng.permutation(len(p))[:k]
        w = (len(p) * p[idxs]) ** -0.4
        nonterminals = torch.ones(k, 1)
        nonterminals[0] = 0
        return idxs, self.s[idxs], self.a[idxs], self.r[idxs], self.ns[idxs], nonterminals, torch.from_numpy((w / w.max()).astype(np.float32))

    def update_priorities(self, idxs, priorities):
        self.priorities[idxs] = np.power(priorities, 0.5)


class Agent():
    def __init__(self, device):
        self.device, self.atoms, self.Vmin, self.Vmax = device, 11, -2.0, 2.0
        self.support = torch.linspace(self.Vmin, self.Vmax, self.atoms).to(device)
        self.delta_z = (self.Vmax - self.Vmin) / (self.atoms - 1)
        self.batch_size, self.discount, self.norm_clip = 6, 0.9, 10
        self.online_net = DQN(self.atoms, 2).to(device)
        self.target_net = DQN(self.atoms, 2).to(device)
        self.optimiser = optim.SGD(self.online_net.parameters(), lr=0.1)
        self.online_net, self.optimiser = amp.initialize(self.online_net, self.optimiser, opt_level="O1")
        self.online_net.train()
        self.update_target_net()
        self.target_net.train()
        for param in self.target_net.parameters():
            param.requires_grad = False

    def learn(self, mem):
        idxs, states, actions, returns, next_states, nonterminals, weights = mem.sample(self.batch_size)
        log_ps = self.online_net(states, log=True)
        log_ps_a = log_ps[range(self.batch_size), actions]
        with torch.no_grad():
            pns = self.online_net(next_states)
            dns = self.support.expand_as(pns) * pns
            argmax_indices_ns = dns.sum(2).argmax(1)
            pns = self.target_net(next_states)
            pns_a = pns[range(self.batch_size), argmax_indices_ns]
            Tz = returns.unsqueeze(1) + nonterminals * self.discount * self.support.unsqueeze(0)
            Tz = Tz.clamp(min=self.Vmin, max=self.Vmax)
            b = (Tz - self.Vmin) / self.delta_z
            l, u = b.floor().to(torch.int64), b.ceil().to(torch.int64)
            l[(u > 0) * (l == u)] -= 1
            u[(l < (self.atoms - 1)) * (l == u)] += 1
            m = states.new_zeros(self.batch_size, self.atoms)
            offset = torch.linspace(0, ((self.batch_size - 1) * self.atoms), self.batch_size).unsqueeze(1).expand(self.batch_size, self.atoms).to(actions)
            m.view(-1).index_add_(0, (l + offset).view(-1), (pns_a * (u.float() - b)).view(-1))
            m.view(-1).index_add_(0, (u + offset).view(-1), (pns_a * (b - l.float())).view(-1))
        loss = -torch.sum(m * log_ps_a, 1)
        self.online_net.zero_grad()
        with amp.scale_loss((weights * loss).mean(), self.optimiser) as scaled_loss:
            scaled_loss.backward()
        clip_grad_norm_(self.online_net.parameters(), self.norm_clip)
        self.optimiser.step()
        mem.update_priorities(idxs, loss.detach().cpu().numpy())
        return loss.mean().item()

    def update_target_net(self):
        self.target_net.load_state_dict(self.online_net.state_dict())

    def evaluate_q(self, state):
        with torch.no_grad():
            return (self.online_net(state.unsqueeze(0)) * self.support).sum(2).max(1)[0].item()


def main():
    torch.manual_seed(9)
    agent = Agent(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    mem = Memory(10, 4)
    losses = []
    for T in range(6):
        losses.append(agent.learn(mem))
        if T % 3 == 2:
            agent.update_target_net()
    return losses, agent.evaluate_q(mem.s[0]), mem.priorities.tolist(), list(agent.online_net.parameters())


if __name__ == "__main__":
    main()
