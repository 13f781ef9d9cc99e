# expect: review

import os
import tempfile

import torch
import torch.nn as nn
from apex import amp

from ckpt import load, save
from loop import one_epoch


def session(path, epochs, data):
    torch.manual_seed(2)
    model = nn.Linear(4, 2)
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    model, opt = amp.initialize(model, opt, opt_level="O1")
    start = 0
    if os.path.isfile(path):
        start = load(path, model, opt)
    losses = []
    for epoch in range(start, epochs):
        losses += one_epoch(model, opt, data, epoch)
        save(path, epoch, model, opt)
    return losses, list(model.parameters())


def main():
    torch.manual_seed(0)
    data = [(torch.randn(4, 4), torch.randn(4, 2)) for _ in range(3)]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "last.pt")
        return session(path, 2, data), session(path, 4, data)


if __name__ == "__main__":
    print(main())
