# expect: safe

import torch
import torch.nn as nn
from apex import amp

import engine


def main():
    torch.manual_seed(0)
    engine.USE_APEX = True
    engine.MAX_NORM = 1.0
    model = nn.Linear(3, 2)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    if engine.USE_APEX:
        model, opt = amp.initialize(model, opt, opt_level="O1")
    out = engine.fit(model, opt, 4)
    return out, list(model.parameters())


if __name__ == "__main__":
    print(main())
