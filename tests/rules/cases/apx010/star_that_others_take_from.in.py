# exported: train to_python_float
# expect: review is imported and not used
# expect: review O2
import torch

try:
    from apex.fp16_utils import *
    from apex import amp
except ImportError:
    raise ImportError("Please install apex from https://www.github.com/nvidia/apex to run this example.")


def train(model, optimizer, loader):
    model, optimizer = amp.initialize(model, optimizer, opt_level="O2")
    for x in loader:
        loss = model(x).sum()
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
