# expect: safe

import torch
import torch.nn as nn
import torch.nn.functional as F

from learner import Learner


def train(learner, data):
    losses = []
    for i, (x, y) in enumerate(data):
        learner.optimizer.zero_grad()
        loss = F.cross_entropy(learner.model(x), y)
        if i == 3:
            loss = loss * 1e37
        learner.backward(loss)
        learner.optimizer.step()
        losses.append(loss.item())
    return losses


def main():
    torch.manual_seed(0)
    data = [(torch.randn(4, 5), torch.randint(0, 3, (4,))) for _ in range(6)]
    learner = Learner(nn.Linear(5, 3), 0.1)
    losses = train(learner, data)
    return losses, list(learner.model.parameters())


if __name__ == "__main__":
    print(main())
