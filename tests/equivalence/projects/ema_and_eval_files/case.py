# expect: review
# differs: losses

import torch
import torch.nn as nn
from apex import amp

from ema import ModelEma
from evaluate import validate


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    ema = ModelEma(model, 0.9)
    criterion = nn.CrossEntropyLoss()
    data = [(torch.randn(4, 4), torch.randint(0, 3, (4,))) for _ in range(4)]
    scores = []
    for epoch in range(2):
        model.train()
        for i, (x, y) in enumerate(data):
            loss = criterion(model(x), y)
            if i == 2:
                loss = loss * 1e37
            optimizer.zero_grad()
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            optimizer.step()
            ema.update(model)
        scores.append(validate(model, data, criterion))
        scores.append(validate(ema.ema, data, criterion))
    return scores, list(model.parameters()), list(ema.ema.parameters())


if __name__ == "__main__":
    print(main())
