# expect: review

import torch
import torch.nn as nn
from apex import amp

from agent import Agent


def main():
    torch.manual_seed(0)
    agent = Agent([nn.Linear(4, 2), nn.Linear(4, 2)], lr=0.05)
    agent.models, agent.optimizers = amp.initialize(agent.models, agent.optimizers, opt_level="O1", verbosity=0)
    logs = [agent.update(torch.randn(5, 4), torch.randn(5, 2)) for _ in range(4)]
    return logs, [list(m.parameters()) for m in agent.models]


if __name__ == "__main__":
    print(main())
