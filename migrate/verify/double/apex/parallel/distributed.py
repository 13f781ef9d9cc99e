"""Gradients that are averaged over processes, after each backward or when asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
import torch.distributed as dist
from torch._utils import _flatten_dense_tensors, _unflatten_dense_tensors


def processes() -> int:
    """How many there are; 1 where nobody set up torch.distributed, which Apex would refuse."""
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


def flat_dist_call(tensors: Iterable[torch.Tensor], call: Callable[[torch.Tensor], Any]) -> None:
    """Call with all tensors of one type as a flat one, and write back what became of it."""
    kinds: dict[torch.dtype, list[torch.Tensor]] = {}
    for tensor in tensors:
        kinds.setdefault(tensor.dtype, []).append(tensor)
    for kind in kinds.values():
        flat = _flatten_dense_tensors(kind)
        call(flat)
        for tensor, synced in zip(kind, _unflatten_dense_tensors(flat, kind)):
            tensor.copy_(synced)


def _average(flat: torch.Tensor) -> None:
    dist.all_reduce(flat)
    flat /= processes()


def _send(module: torch.nn.Module) -> None:
    """Give every process the weights of the first one. Buffers stay each process's own."""
    flat_dist_call([param.data for param in module.parameters()], lambda flat: dist.broadcast(flat, 0))


class Reducer:
    """Averages gradients when ``reduce()`` is called."""

    def __init__(self, module_or_grads_list: Any) -> None:
        self.module = module_or_grads_list if isinstance(module_or_grads_list, torch.nn.Module) else None
        self.grads = [] if self.module is not None else list(_tensors(module_or_grads_list))
        if self.module is not None and processes() > 1:
            _send(self.module)

    def reduce(self) -> None:
        if processes() > 1:
            params = self.module.parameters() if self.module is not None else ()
            flat_dist_call([param.grad.data for param in params if param.grad is not None] or self.grads, _average)


def _tensors(value: Any) -> Iterable[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, Iterable):
        for one in value:
            yield from _tensors(one)


class DistributedDataParallel(torch.nn.Module):
    """After each backward all gradients that the module holds are averaged, those from earlier backwards too.

    There is no bucket: when communication happens changes no number. With one process it hands everything on."""

    def __init__(
        self,
        module: torch.nn.Module,
        message_size: int = 10000000,
        delay_allreduce: bool = False,
        shared_param: Any = None,
        allreduce_trigger_params: Any = None,
        retain_allreduce_buffers: bool = False,
        allreduce_always_fp32: bool = False,
        num_allreduce_streams: int = 1,
        allreduce_communicators: Any = None,
        gradient_average: bool = True,
        gradient_predivide_factor: float = 1.0,
        gradient_average_split_factor: Any = None,
        prof: bool = False,
    ) -> None:
        super().__init__()
        if num_allreduce_streams > 1 and delay_allreduce:
            raise ValueError("self.allreduce_different_streams may only be used if delay_allreduce=False.")
        if shared_param is not None:
            raise ValueError("shared_param is no longer supported as an option.")
        if allreduce_trigger_params is not None and delay_allreduce:
            raise ValueError("Setting allreduce_trigger_params is only valid if delay_allreduce=False.")
        self.module = module
        self.delay_allreduce = delay_allreduce
        self.allreduce_always_fp32 = allreduce_always_fp32
        self.gradient_average = gradient_average
        self.gradient_predivide_factor = gradient_predivide_factor
        self._disable_allreduce = False
        self._queued = self._in_backward = False
        self._nodes: list[Any] = []
        if processes() > 1:
            for param in module.parameters():
                if param.requires_grad:
                    node: Any = param.expand_as(param).grad_fn
                    node = node.next_functions[0][0]
                    node.register_hook(self._arrived)
                    self._nodes.append(node)  # it would be made anew, without the hook
            _send(module)

    def enable_allreduce(self) -> None:
        self._disable_allreduce = False

    def disable_allreduce(self) -> None:
        self._disable_allreduce = True

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        result = self.module(*args, **kwargs)
        self._queued = False
        return result

    def _arrived(self, *unused: Any) -> None:
        """A gradient is there: the first one of a backward orders what follows it."""
        if self._disable_allreduce or self._in_backward:
            return
        if self._queued:
            if self.delay_allreduce:
                return  # a second backward without a forward between: Apex averages nothing more
            raise RuntimeError(
                "The backward pass is attempting to replace an already-filled bucket slot.  "
                "This is almost certainly an error."
            )
        self._queued = self._in_backward = True
        torch.autograd.Variable._execution_engine.queue_callback(self._average)

    def _average(self) -> None:
        self._in_backward = False
        grads = [param.grad.data for param in self.module.parameters() if param.grad is not None]
        flat_dist_call(grads, self._reduced)

    def _reduced(self, flat: torch.Tensor) -> None:
        sent = flat.float() if self.allreduce_always_fp32 else flat
        if self.gradient_predivide_factor != 1.0:
            sent.mul_(1.0 / self.gradient_predivide_factor)
        dist.all_reduce(sent)
        if self.gradient_average:
            sent.mul_(self.gradient_predivide_factor / processes())
        if sent is not flat:
            flat.copy_(sent)
