# expect: manual

import torch
import torch.nn as nn
import torch.nn.functional as F
import types
from engine import Engine


def no_setup(self):
    self.ready = True


def main():
    torch.manual_seed(0)
    data = [(torch.randn(4, 5), torch.randint(0, 3, (4,))) for i in range(4)]
    engine = Engine(nn.Linear(5, 3))
    engine.setup()
    out = engine.fit(data)
    second = Engine(engine.model)
    second.optimizer = engine.optimizer
    second.setup = types.MethodType(no_setup, second)
    second.setup()
    out += second.fit(data)
    return out, list(engine.model.parameters())
