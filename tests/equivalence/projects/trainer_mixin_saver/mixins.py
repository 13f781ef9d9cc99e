import torch
from apex import amp


class ClipMixin:
    max_norm = 0.5

    def clip(self):
        if self.fp16:
            params = amp.master_params(self.optimizer)
        else:
            params = self.model.parameters()
        return torch.nn.utils.clip_grad_norm_(params, self.max_norm)
