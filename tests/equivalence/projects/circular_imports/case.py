# expect: safe

import torch
import torch.nn as nn
from apex import amp

import state
from steps import run

LEVEL = "O1"


def main():
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level=LEVEL)
    state.LOG.clear()
    run(model, optimizer, 4)
    return list(state.LOG), list(model.parameters())


if __name__ == "__main__":
    print(main())
