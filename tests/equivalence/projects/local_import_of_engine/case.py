# expect: safe

import torch
import torch.nn as nn


def main():
    from apex import amp
    from engine import train as run

    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    return run(model, optimizer), list(model.parameters())


if __name__ == "__main__":
    print(main())
