# expect: manual

import torch
import torch.nn as nn
import torch.nn.functional as F
from trainer import Trainer
from clipping import update


def main():
    torch.manual_seed(0)
    Trainer.update = update
    trainer = Trainer(nn.Linear(5, 3), 0.1)
    data = [(torch.randn(4, 5) * (1e38 if i == 2 else 1), torch.randint(0, 3, (4,))) for i in range(6)]
    return trainer.run(data), list(trainer.model.parameters())
