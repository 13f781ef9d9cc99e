import torch


class Reducer:
    """Averages the gradients of a module, or a list of them, over processes when it is told, as apex.parallel's did."""

    def __init__(self, module_or_grads_list):
        self.module, self.grads = None, []
        if isinstance(module_or_grads_list, torch.nn.Module):
            self.module = module_or_grads_list
            for p in self.module.parameters():
                torch.distributed.broadcast(p.data, 0)
        else:
            self._collect(module_or_grads_list)

    def _collect(self, item):
        if torch.is_tensor(item):
            self.grads.append(item)
        else:
            for one in item:
                self._collect(one)

    def reduce(self):
        grads = self.grads
        if self.module is not None:
            grads = [p.grad.data for p in self.module.parameters() if p.grad is not None]
        for kind in {(one.dtype, one.device): None for one in grads}:  # one message each
            alike = [one for one in grads if (one.dtype, one.device) == kind]
            flat = torch._utils._flatten_dense_tensors(alike)
            torch.distributed.all_reduce(flat)
            flat /= torch.distributed.get_world_size()
            for one, mean in zip(alike, torch._utils._unflatten_dense_tensors(flat, alike)):
                one.copy_(mean)


reducer = Reducer(model)
reducer.reduce()
