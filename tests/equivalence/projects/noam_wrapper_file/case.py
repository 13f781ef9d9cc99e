# expect: safe

import torch
import torch.nn as nn
from apex import amp

from noam import NoamOpt
from translate import translate_epoch


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(10, 6), nn.Linear(6, 10))
    adam = torch.optim.Adam(model.parameters(), lr=0, betas=(0.9, 0.98), eps=1e-9)
    model, adam = amp.initialize(model, adam, opt_level="O1")
    optimizer = NoamOpt(6, 1, 4, adam)
    data = [torch.randint(0, 10, (3, 4)) for _ in range(4)]
    return [translate_epoch(model, optimizer, data, e) for e in range(2)], list(model.parameters())


if __name__ == "__main__":
    print(main())
