# expect: manual: optimizer.step() is not in the file
# shape: hook-based trainer, the step belongs to somebody else

import torch
import torch.nn as nn
from apex import amp


class AmpOptimizerHook:
    def before_run(self, runner):
        runner.model, runner.optimizer = amp.initialize(runner.model, runner.optimizer, opt_level="O1")

    def after_forward(self, runner):
        runner.optimizer.zero_grad()
        with amp.scale_loss(runner.outputs["loss"], runner.optimizer) as scaled_loss:
            scaled_loss.backward()


def build_hooks(cfg):
    return [AmpOptimizerHook() for name in cfg if name == "amp"]


print(len(build_hooks(["amp", "log"])), nn.Linear(1, 1).weight.shape, torch.Size([1, 1]))
