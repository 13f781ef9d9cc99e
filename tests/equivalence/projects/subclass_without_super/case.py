# expect: manual

import torch
import torch.nn as nn
import torch.nn.functional as F
from trainer import Trainer
from continued import Continued


def main():
    torch.manual_seed(0)
    data = [(torch.randn(4, 5), torch.randint(0, 3, (4,))) for i in range(6)]
    one = Trainer(nn.Linear(5, 3), 0.1)
    out = one.fit(data)
    out += Continued(one).fit(data)
    return out, list(one.model.parameters())
