# expect: safe

import torch
from apex import amp
from evaluators import build_evaluator
from net import Net


def main():
    torch.manual_seed(0)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    ev = build_evaluator("retrieval", model)
    h = []
    for i in range(4):
        loss = model(torch.randn(8, 5)).pow(2).mean()
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as s:
            s.backward()
        optimizer.step()
        h.append(ev.run(i))
    return [h, list(model.parameters())]

if __name__ == "__main__":
    print(main())
