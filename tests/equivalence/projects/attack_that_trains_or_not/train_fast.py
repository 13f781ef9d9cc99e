import torch
import torch.nn as nn
from apex import amp

from attacks import perturb, robustness


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    model, opt = amp.initialize(model, opt, opt_level="O1")
    criterion = nn.CrossEntropyLoss()
    batches = [(torch.randn(6, 4), torch.randint(0, 3, (6,))) for _ in range(4)]
    for i, (x, y) in enumerate(batches):
        delta = perturb(model, x, y, 0.05, 2, opt)
        loss = criterion(model(x + delta), y)
        if i == 2:
            loss = loss * 1e37
        opt.zero_grad()
        with amp.scale_loss(loss, opt) as scaled_loss:
            scaled_loss.backward()
        opt.step()
    opt.zero_grad()
    return robustness(model, batches), list(model.parameters())


if __name__ == "__main__":
    main()
