# expect: safe

import torch
import torch.nn as nn

from apex import amp

from engine import do_train


def main():
    torch.manual_seed(2)
    model = nn.Linear(4, 3).cuda()
    critic = nn.Linear(3, 3).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    critic_optimizer = torch.optim.Adam(critic.parameters(), lr=0.01)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    critic, critic_optimizer = amp.initialize(critic, critic_optimizer, opt_level="O1")
    loader = [(torch.randn(4, 4).cuda(), torch.randint(0, 3, (4,)).cuda()) for _ in range(5)]
    losses = do_train(model, critic, loader, optimizer, critic_optimizer)
    return losses, list(model.parameters()), list(critic.parameters())


if __name__ == "__main__":
    print(main())
