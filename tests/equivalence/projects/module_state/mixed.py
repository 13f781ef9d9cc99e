import torch
from apex import amp

_enabled = False
_optimizers = []


def setup(model, optimizer, enabled=True, level="O1"):
    global _enabled
    _enabled = enabled
    if _enabled:
        model, optimizer = amp.initialize(model, optimizer, opt_level=level)
    _optimizers.append(optimizer)
    return model, optimizer


def backward(loss):
    if _enabled:
        with amp.scale_loss(loss, _optimizers) as scaled_loss:
            scaled_loss.backward()
    else:
        loss.backward()
