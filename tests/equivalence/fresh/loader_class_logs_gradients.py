# expect: manual: what the loop goes through reads gradients between micro-batches

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


def norm(model):
    return sum(float(p.grad.norm()) for p in model.parameters() if p.grad is not None)


class Watched:
    def __init__(self, data, model):
        self.data, self.model, self.log = data, model, []

    def __len__(self):
        return len(self.data)

    def __iter__(self):
        for batch in self.data:
            yield batch
            self.log.append(norm(self.model))


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    data = [(torch.randn(6, 4), torch.randint(0, 2, (6,))) for _ in range(4)]
    loader = Watched(data, model)
    for step, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x), y) / 2
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        if step % 2:
            optimizer.step()
            optimizer.zero_grad()
    return [loader.log, list(model.parameters())]


if __name__ == "__main__":
    main()
