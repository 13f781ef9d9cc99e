# expect: safe

import torch
import torch.nn as nn
import torch.nn.functional as F
from callbacks import Clip, Log
from trainer import Trainer


def main():
    torch.manual_seed(0)
    trainer = Trainer(nn.Linear(5, 3), [Clip(0.05), Log()])
    data = [(torch.randn(4, 5), torch.randint(0, 3, (4,))) for i in range(6)]
    return trainer.fit(data), Log.norms, list(trainer.model.parameters())
