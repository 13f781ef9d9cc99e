# expect: review: the gradients of an overflow are thrown away before this step: Apex le

import torch
import torch.nn as nn
import torch.optim as optim
import apex
from apex import amp


class Policy(nn.Module):
    def __init__(self, obs, act, hid=8):
        super().__init__()
        self.base = nn.Sequential(nn.Linear(obs, hid), nn.Tanh())
        self.dist = nn.Linear(hid, act)
        self.critic_linear = nn.Linear(hid, 1)

    def evaluate_actions(self, obs, action):
        h = self.base(obs)
        d = torch.distributions.Categorical(logits=self.dist(h))
        return self.critic_linear(h), d.log_prob(action.squeeze(-1)).unsqueeze(-1), d.entropy().mean()

    @torch.no_grad()
    def act(self, obs):
        h = self.base(obs)
        d = torch.distributions.Categorical(logits=self.dist(h))
        a = d.sample()
        return self.critic_linear(h), a.unsqueeze(-1), d.log_prob(a).unsqueeze(-1)


class PPO():
    def __init__(self, actor_critic, clip_param, ppo_epoch, num_mini_batch, value_loss_coef, entropy_coef,
                 lr=None, eps=None, max_grad_norm=None, target_kl=None):
        self.actor_critic = actor_critic
        self.clip_param, self.ppo_epoch, self.num_mini_batch = clip_param, ppo_epoch, num_mini_batch
        self.value_loss_coef, self.entropy_coef = value_loss_coef, entropy_coef
        self.max_grad_norm, self.target_kl = max_grad_norm, target_kl
        self.optimizer = optim.Adam(actor_critic.parameters(), lr=lr, eps=eps)
        self.actor_critic, self.optimizer = amp.initialize(self.actor_critic, self.optimizer, opt_level="O1")

    def update(self, rollouts):
        obs, actions, old_logp, returns, adv = rollouts
        adv = (adv - adv.mean()) / (adv.std() + 1e-5)
        value_loss_epoch = action_loss_epoch = entropy_epoch = 0
        n_updates, stop = 0, False
        for e in range(self.ppo_epoch):
            perm = torch.randperm(obs.size(0))
            for indices in perm.chunk(self.num_mini_batch):
                values, logp, dist_entropy = self.actor_critic.evaluate_actions(obs[indices], actions[indices])
                ratio = torch.exp(logp - old_logp[indices])
                surr1 = ratio * adv[indices]
                surr2 = torch.clamp(ratio, 1.0 - self.clip_param, 1.0 + self.clip_param) * adv[indices]
                action_loss = -torch.min(surr1, surr2).mean()
                value_loss = 0.5 * (returns[indices] - values).pow(2).mean()
                self.optimizer.zero_grad()
                loss = value_loss * self.value_loss_coef + action_loss - dist_entropy * self.entropy_coef
                with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                    scaled_loss.backward()
                approx_kl = (old_logp[indices] - logp).mean().item()
                if self.target_kl is not None and approx_kl > 1.5 * self.target_kl:
                    print("Early stopping at epoch {} due to reaching max kl: {:.3f}".format(e, approx_kl))
                    stop = True
                    break
                nn.utils.clip_grad_norm_(amp.master_params(self.optimizer), self.max_grad_norm)
                self.optimizer.step()
                value_loss_epoch += value_loss.item()
                action_loss_epoch += action_loss.item()
                entropy_epoch += dist_entropy.item()
                n_updates += 1
            if stop:
                break
        n = max(n_updates, 1)
        return value_loss_epoch / n, action_loss_epoch / n, entropy_epoch / n, n_updates


def collect(policy, n, device, broken=False):
    obs = torch.randn(n, 4, device=device)
    value, action, logp = policy.act(obs)
    reward = (action.squeeze(-1) == (obs[:, 0] > 0).long()).float().unsqueeze(-1)
    returns = reward.clone()
    if broken:
        returns[3] = 1e30
    return obs, action, logp, returns, reward - value


def main():
    torch.manual_seed(3)
    torch.set_num_threads(1)
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    policy = Policy(4, 2).to(device)
    agent = PPO(policy, 0.2, 4, 2, 0.5, 0.01, lr=3e-2, eps=1e-5, max_grad_norm=0.5, target_kl=0.02)
    out = []
    for j in range(4):
        rollouts = collect(policy, 16, device, broken=(j == 1))
        v, a, h, n = agent.update(rollouts)
        out.append((v, a, h, n))
        print("Updates {}, entropy {:.5f}, action loss {:.5f}".format(j, h, a))
    return out, list(policy.parameters())


if __name__ == "__main__":
    main()
