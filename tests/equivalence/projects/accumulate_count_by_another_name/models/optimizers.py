import torch
from torch.nn.utils import clip_grad_norm_
from apex import amp


class Optimizer(object):
    def __init__(self, learning_rate, max_grad_norm, warmup):
        self.learning_rate = self.original_lr = learning_rate
        self.max_grad_norm = max_grad_norm
        self.warmup_steps = warmup
        self._step = 0

    def set_parameters(self, params):
        self.params = [p for k, p in params if p.requires_grad]
        self.optimizer = torch.optim.Adagrad(self.params, lr=self.learning_rate)

    def _set_rate(self, learning_rate):
        self.learning_rate = learning_rate
        self.optimizer.param_groups[0]['lr'] = learning_rate

    def step(self):
        self._step += 1
        self._set_rate(self.original_lr * min(self._step ** (-0.5), self._step * self.warmup_steps ** (-1.5)))
        if self.max_grad_norm:
            clip_grad_norm_(amp.master_params(self.optimizer), self.max_grad_norm)
        self.optimizer.step()
