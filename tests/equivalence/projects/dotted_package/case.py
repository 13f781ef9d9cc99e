# expect: safe

import torch
import torch.nn as nn
from apex import amp

import pkg.engine
import pkg.nets as N
from pkg import checkpoints


def main():
    torch.manual_seed(0)
    model = N.Net()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    model, opt = amp.initialize(model, opt, opt_level="O1")
    out = pkg.engine.fit(model, opt, 4)
    saved = checkpoints.dump(model, opt)
    return out, len(saved), list(model.parameters())


if __name__ == "__main__":
    print(main())
