# expect: safe

import torch
import torch.nn as nn
import torch.nn.functional as F
from finetune import finetune
from pretrain import pretrain


def main():
    torch.manual_seed(0)
    model = nn.Linear(5, 3)
    data = [(torch.randn(4, 5), torch.randint(0, 3, (4,))) for i in range(4)]
    first = pretrain(model, data)
    return first, finetune(model, data), list(model.parameters())
