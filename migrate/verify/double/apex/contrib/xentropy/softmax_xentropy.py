"""Cross entropy, one loss a row; a label of ``padding_idx`` costs nothing, and that is label 0 unless told."""

from __future__ import annotations

import torch
import torch.nn.functional as F


class SoftmaxCrossEntropyLoss:
    """Used through ``apply``, as Apex's autograd function is. Computed by torch, so that a recorder sees a loss."""

    @staticmethod
    def apply(
        logits: torch.Tensor,
        labels: torch.Tensor,
        smoothing: float = 0.0,
        padding_idx: int = 0,
        half_to_float: bool = False,
    ) -> torch.Tensor:
        return F.cross_entropy(
            logits.float(), labels, ignore_index=padding_idx, reduction="none", label_smoothing=smoothing
        )
