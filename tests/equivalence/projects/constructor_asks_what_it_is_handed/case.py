# expect: safe
# shape: a class of another file runs a method of the policy as it is made: its casts go with the call

import torch
from agent import PPO
from storage import Rollout


def main():
    torch.manual_seed(0)
    ppo = PPO()
    x = torch.randn(3, 4)
    rows = []
    for _ in range(2):
        rows.append(Rollout(ppo.policy, x).total)
        rows.append(ppo.update(x))
    return rows


if __name__ == "__main__":
    main()
