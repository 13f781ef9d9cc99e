# expect: safe

from contextlib import contextmanager

import torch
from apex import amp

from holders import Entered, Holder, Wrapped, evaluating, pick
from net import Net


@contextmanager
def in_eval_mode(model):
    model.eval()
    yield model
    model.train()


class Mode:
    def __init__(self, model):
        self.model = model

    def __enter__(self):
        return self.model

    def __exit__(self, *error):
        return None


def main():
    torch.manual_seed(0)
    model = Net()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    model, opt = amp.initialize(model, opt, opt_level="O1")
    for _ in range(4):
        loss = model(torch.randn(4, 4)).pow(2).mean()
        opt.zero_grad()
        with amp.scale_loss(loss, opt) as scaled:
            scaled.backward()
        opt.step()
    held, wrapped = Holder(model), Wrapped(net=model)
    found = []
    with torch.no_grad():
        for _ in range(2):
            x = torch.randn(4, 4)
            found.append(held.model(x))
            found.append(held.model.encode(x))
            found.append(held.get()(x))
            found.append(wrapped.inner(x))
            found.append(pick({"a": model}).encode(x))
        with evaluating(model) as one:
            found.append(one(x))
        with Entered(model) as one:
            found.append(one.encode(x))
        with in_eval_mode(model) as one:
            found.append(one(x))
        with Mode(model) as one:
            found.append(one(x))
    return [found, list(model.parameters())]


if __name__ == "__main__":
    print(main())
