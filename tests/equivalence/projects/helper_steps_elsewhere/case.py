# expect: safe

import torch
import torch.nn as nn

from learner import Learner


def main():
    torch.manual_seed(0)
    learner = Learner(nn.Linear(3, 2))
    out = learner.fit([torch.randn(4, 3) for _ in range(3)])
    # fine-tuning by hand
    for _ in range(2):
        loss = learner.model(torch.randn(4, 3)).pow(2).mean()
        learner.optimizer.zero_grad()
        learner.backward(loss)
        learner.optimizer.step()
        out.append(loss.item())
    return out, list(learner.model.parameters())


if __name__ == "__main__":
    print(main())
