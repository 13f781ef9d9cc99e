# expect: review
# shape: a soft actor-critic: the temperature has an optimizer that Apex never had, in the function that trains the actor

import numpy as np
import torch
from agent import SAC_Agent
from buffer import ReplayBuffer


def main():
    torch.manual_seed(0)
    rng = np.random.RandomState(0)
    agent = SAC_Agent(3, 1, hidden=12, lr=3e-3, fp16=True)
    buf = ReplayBuffer(100, 3, 1)
    s = rng.randn(3).astype('float32')
    rewards, stats = [], []
    for t in range(40):
        a = agent.select_action(s) if t > 10 else rng.uniform(-1, 1, 1).astype('float32')
        s2 = (0.8 * s + 0.2 * a + 0.05 * rng.randn(3)).astype('float32')
        r = -float(np.abs(s2).sum())
        buf.push(s, a, r, s2, float(t % 20 == 19))
        s = s2
        rewards.append(r)
        if t >= 20 and t % 4 == 0:
            stats.append(agent.update(buf.sample(8, rng), t))
    print('return %.4f alpha %.4f' % (sum(rewards), agent.alpha))
    return stats, list(agent.actor.parameters()), list(agent.critic_target.parameters()), agent.alpha


if __name__ == '__main__':
    main()
