# expect: review
# Which backend a run has is found by a function that nobody follows; one that has Apex stops now.

import torch
from data import batches
from model import Net
from trainer import Trainer


def main():
    torch.manual_seed(0)
    model = Net()
    trainer = Trainer(model, torch.optim.SGD(model.parameters(), lr=0.1), {"backend": "none"})
    return [trainer.step(x, y).item() for x, y in batches(5, 1)], [p.sum() for p in model.parameters()]


if __name__ == "__main__":
    print(main())
