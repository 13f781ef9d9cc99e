# expect: safe

import torch
import torch.nn as nn
import torch.nn.functional as F

from apex import amp

from tools import EarlyStopping, Evaluator, Prefetch, describe, linear_probe


def main():
    torch.manual_seed(0)
    enhancer, model = nn.Linear(5, 5), nn.Linear(5, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    batches = [(torch.rand(4, 5), torch.randint(0, 3, (4,))) for _ in range(3)]
    evaluator = Evaluator(model, [torch.rand(2, 5)])
    stopping, out = EarlyStopping(evaluator, 2), []
    for epoch in range(3):
        for x, y in Prefetch(batches, enhancer):
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            optimizer.step()
            out += [loss.item(), describe(x).item()]
        out += linear_probe(model, batches)
        if stopping.should_stop():
            break
    return out, evaluator.history, list(model.parameters())


if __name__ == "__main__":
    print(main())
