from distutils.version import LooseVersion

import torch

from torch.cuda import amp


class Trainer:
    def __init__(self, model, optimizer, scale=512.0):
        self.model, self.optimizer = model, optimizer
        if LooseVersion(torch.__version__) >= LooseVersion("1.6.0"):
            self.scaler = amp.GradScaler(init_scale=scale)

    def step(self, x):
        with torch.autocast("cuda"):
            loss = self.model(x).mean()
        self.optimizer.zero_grad()
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()


def build(model, optimizer, use_fp16):
    return Trainer(model, optimizer)
