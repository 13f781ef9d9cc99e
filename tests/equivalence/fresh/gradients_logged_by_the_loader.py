# expect: manual: the generator that feeds the loop reads gradients between its micro-batches

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


def watched(loader, model, log):
    """Yields the batches; after each one notes how large the gradients have become."""
    for batch in loader:
        yield batch
        norms = [p.grad.norm().item() for p in model.parameters() if p.grad is not None]
        log.append(sum(norms))


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    loader = [(torch.randn(6, 4), torch.randint(0, 2, (6,))) for _ in range(6)]
    log = []
    for i, (x, y) in enumerate(watched(loader, model, log)):
        loss = F.cross_entropy(model(x), y) / 2
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        if (i + 1) % 2 == 0:
            optimizer.step()
            optimizer.zero_grad()
    print(["%.4f" % v for v in log])
    return [log, list(model.parameters())]


if __name__ == "__main__":
    main()
