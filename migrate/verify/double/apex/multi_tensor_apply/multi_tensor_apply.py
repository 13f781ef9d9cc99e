"""Hands lists of tensors to a function of many tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class MultiTensorApply:
    available = True
    warned = False

    def __init__(self, chunk_size: int) -> None:
        self.chunk_size = chunk_size

    def check_avail(self) -> None:
        """The double always is."""

    def __call__(self, op: Callable[..., Any], noop_flag_buffer: Any, tensor_lists: Any, *args: Any) -> Any:
        return op(self.chunk_size, noop_flag_buffer, tensor_lists, *args)
