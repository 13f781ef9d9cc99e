# expect: manual

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp
import engine
import patches


def main():
    torch.manual_seed(0)
    model = nn.Linear(5, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    data = [(torch.randn(4, 5), torch.randint(0, 3, (4,))) for i in range(6)]
    out = engine.train(model, optimizer, data)
    patches.apply()
    out += engine.train(model, optimizer, data)
    return out, list(model.parameters())
