"""Apex O2: the model's weights in float16, float32 masters in the optimizer."""

from __future__ import annotations

from apex import amp
from torch import nn
from torch.optim import Optimizer

from .apex_o1 import ApexO1


class ApexO2(ApexO1):
    """As O1 but for what `amp.initialize` makes of the model and the optimizer."""

    def setup(self, model: nn.Module, optimizer: Optimizer) -> None:
        self.model, self.optimizer = amp.initialize(model, optimizer, opt_level="O2", verbosity=0)
