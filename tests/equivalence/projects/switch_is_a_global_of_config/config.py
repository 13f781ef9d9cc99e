import torch
from apex import amp

FP16 = True
OPT_LEVEL = "O1"


def wrap(model, optimizer):
    if FP16:
        return amp.initialize(model, optimizer, opt_level=OPT_LEVEL)
    return model, optimizer


def backward(loss, optimizer):
    if FP16:
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
    else:
        loss.backward()
