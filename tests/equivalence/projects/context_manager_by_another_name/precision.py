import contextlib
from typing import Iterator

import torch
from apex import amp


@contextlib.contextmanager
def scaled(loss: torch.Tensor, optimizer: torch.optim.Optimizer, enabled: bool) -> Iterator[torch.Tensor]:
    if enabled:
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            yield scaled_loss
    else:
        yield loss


def parameters_to_clip(model, optimizer, enabled):
    return amp.master_params(optimizer) if enabled else model.parameters()
