import hooks
import torch
import torch.nn.functional as F
from base import RunnerBase


class DefaultRunner(RunnerBase):
    def __init__(self, model, loader, fp16, accumulate=1):
        super().__init__()
        self.model = model
        self.loader = iter(loader)
        self.accumulate = accumulate
        self.max_iter = len(loader) // accumulate
        self.losses = []
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        if fp16:
            from apex import amp

            self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")
        self.register_hooks(self.build_hooks(fp16))

    def build_hooks(self, fp16):
        return [hooks.OptimizationHook(accumulate_grad_steps=self.accumulate, mixed_precision=fp16)]

    def run_step(self):
        x, y = next(self.loader)
        loss_dict = {"loss_cls": F.cross_entropy(self.model(x.cuda()), y.cuda())}
        losses = sum(loss_dict.values())
        self.step_outputs = {"loss_for_backward": losses}
        self.losses.append(losses.item())
