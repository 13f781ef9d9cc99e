# expect: manual: the object takes no attribute but those it declares

import torch
import torch.nn as nn
import torch.nn.functional as F
from dataclasses import dataclass, field, asdict
from apex import amp


@dataclass(slots=True)
class Run:
    model: nn.Module
    optimizer: torch.optim.Optimizer
    epochs: int = 2
    losses: list = field(default_factory=list)

    def prepare(self, level):
        self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level=level)
        return self

    def fit(self, batches):
        for _ in range(self.epochs):
            for x, y in batches:
                self.optimizer.zero_grad()
                loss = F.cross_entropy(self.model(x), y)
                with amp.scale_loss(loss, self.optimizer) as scaled:
                    scaled.backward()
                self.optimizer.step()
                self.losses.append(loss.item())


def main():
    torch.manual_seed(0)
    model = nn.Linear(4, 2)
    run = Run(model, torch.optim.SGD(model.parameters(), lr=0.1)).prepare("O1")
    run.fit([(torch.randn(6, 4), torch.randint(0, 2, (6,))) for _ in range(3)])
    print([name for name in run.__dataclass_fields__])
    return [run.losses, list(model.parameters())]


if __name__ == "__main__":
    main()
