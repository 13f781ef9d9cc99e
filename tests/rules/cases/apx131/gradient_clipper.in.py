# expect: review multi_tensor_l2norm is written out here
# expect: review multi_tensor_scale is written out here
import torch
from apex.multi_tensor_apply import multi_tensor_applier


class GradientClipper:
    def __init__(self, max_grad_norm):
        self.max_norm = max_grad_norm
        if multi_tensor_applier.available:
            import amp_C

            self._overflow_buf = torch.cuda.IntTensor([0])
            self.multi_tensor_l2norm = amp_C.multi_tensor_l2norm
            self.multi_tensor_scale = amp_C.multi_tensor_scale
        else:
            raise RuntimeError("Gradient clipping requires cuda extensions")

    def step(self, parameters):
        grads = [p.grad for p in parameters if p.grad is not None]
        total_norm, _ = multi_tensor_applier(self.multi_tensor_l2norm, self._overflow_buf, [grads], False)
        clip_coef = self.max_norm / (total_norm.item() + 1e-6)
        if clip_coef < 1:
            multi_tensor_applier(self.multi_tensor_scale, self._overflow_buf, [grads, grads], clip_coef)
