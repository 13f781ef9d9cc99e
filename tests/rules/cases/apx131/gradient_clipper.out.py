import torch


@torch.no_grad()
def multi_tensor_l2norm(chunk_size, noop_flag, tensor_lists, per_tensor=False):
    """The norm of all tensors together and, if asked for, of each; noop_flag is 1 where one is not finite."""
    norms = torch.stack(torch._foreach_norm([one.float() for one in tensor_lists[0]]))
    noop_flag.masked_fill_(~torch.isfinite(norms).all(), 1)
    return norms.norm().reshape(1), norms if per_tensor else norms.new_empty(0)


@torch.no_grad()
def multi_tensor_scale(chunk_size, noop_flag, tensor_lists, scale):
    """``out = source * scale`` for two lists of tensors; noop_flag is 1 where a source is not finite."""
    for source, out in zip(*tensor_lists):
        noop_flag.masked_fill_(~torch.isfinite(source).all(), 1)
        out.copy_(source.float() * scale)


def multi_tensor_applier(op, noop_flag, tensor_lists, *args):
    """Calls a function of many tensors; how many numbers a kernel took at a time makes no difference here."""
    return op(2048 * 32, noop_flag, tensor_lists, *args)


class GradientClipper:
    def __init__(self, max_grad_norm):
        self.max_norm = max_grad_norm

        self._overflow_buf = torch.cuda.IntTensor([0])
        self.multi_tensor_l2norm = multi_tensor_l2norm
        self.multi_tensor_scale = multi_tensor_scale

    def step(self, parameters):
        grads = [p.grad for p in parameters if p.grad is not None]
        total_norm, _ = multi_tensor_applier(self.multi_tensor_l2norm, self._overflow_buf, [grads], False)
        clip_coef = self.max_norm / (total_norm.item() + 1e-6)
        if clip_coef < 1:
            multi_tensor_applier(self.multi_tensor_scale, self._overflow_buf, [grads, grads], clip_coef)
