"""One loss scale and how it moves."""

from __future__ import annotations

from collections.abc import Sequence

import torch


class LossScaler:
    """Follows Apex built with its CUDA kernels: an overflow does not stop the unscaling."""

    def __init__(
        self,
        loss_scale: float | str,
        init_scale: float = 2.0**16,
        scale_factor: float = 2.0,
        scale_window: int = 2000,
        min_loss_scale: float | None = None,
        max_loss_scale: float = 2.0**24,
    ) -> None:
        self.dynamic = loss_scale == "dynamic"
        if isinstance(loss_scale, str):
            self._loss_scale = min(max_loss_scale, init_scale) if self.dynamic else float(loss_scale)
        else:
            self._loss_scale = loss_scale
        self._min_loss_scale = min_loss_scale
        self._max_loss_scale = max_loss_scale
        # `scale_factor` is taken and not used: doubling and halving are fixed.
        self._scale_seq_len = scale_window
        self._unskipped = 0
        self._has_overflow = False

    def loss_scale(self) -> float:
        return self._loss_scale

    def clear_overflow_state(self) -> None:
        self._has_overflow = False

    def _look(self, grad: torch.Tensor) -> None:
        if not bool(torch.isfinite(grad).all()):
            self._has_overflow = True

    def unscale(self, scaled: Sequence[torch.Tensor], out: Sequence[torch.Tensor]) -> None:
        """``out = scaled / loss_scale``, noting values that are not finite."""
        factor = 1.0 / self._loss_scale
        with torch.no_grad():
            for source, target in zip(scaled, out):
                self._look(source)
                target.copy_(source * factor)

    def unscale_with_stashed(
        self, scaled: Sequence[torch.Tensor], stashed: Sequence[torch.Tensor], out: Sequence[torch.Tensor]
    ) -> None:
        """``out = scaled / loss_scale + stashed``; only the new gradients are looked at."""
        factor = 1.0 / self._loss_scale
        with torch.no_grad():
            for source, earlier, target in zip(scaled, stashed, out):
                self._look(source)
                target.copy_(source * factor + earlier)

    def update_scale(self) -> bool:
        """Move the scale after one backward; whether the next step has to be skipped."""
        skip = self._has_overflow and self.dynamic
        if skip:
            halved = self._loss_scale / 2.0
            self._loss_scale = max(self._min_loss_scale, halved) if self._min_loss_scale else halved
            self._unskipped = 0
        else:
            self._unskipped += 1
        if self.dynamic and self._unskipped == self._scale_seq_len:
            self._loss_scale = min(self._max_loss_scale, self._loss_scale * 2.0)
            self._unskipped = 0
        return skip
