# expect: review

import torch
import torch.nn as nn
from apex import amp

from lib_train import do_train


def main():
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    return do_train(model, optimizer, 3), list(model.parameters())


if __name__ == "__main__":
    print(main())
