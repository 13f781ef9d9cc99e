# expect: manual: amp is put into the options, which then are not taken by their text

from types import SimpleNamespace

import torch
import torch.nn as nn

from run_epoch import run_epoch


def main():
    args = SimpleNamespace(epochs=2, mixed=True)
    torch.manual_seed(0)
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if args.mixed:
        from apex import amp
        args.amp = amp
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    data = [(torch.randn(3, 4), torch.randint(0, 2, (3,))) for _ in range(3)]
    return [run_epoch(args, model, optimizer, data) for _ in range(args.epochs)], list(model.parameters())


if __name__ == "__main__":
    print(main())
