# expect: manual amp_C.multi_tensor_sgd has no counterpart
import torch
from apex.multi_tensor_apply import multi_tensor_applier


class Own(torch.optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, {})
        if multi_tensor_applier.available:
            import amp_C

            self.multi_tensor_sgd = amp_C.multi_tensor_sgd
