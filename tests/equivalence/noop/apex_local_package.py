from . import apex
from .apex import amp
from ..apex.tools import initialize, scale_loss


def build(model, optimizer):
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    with amp.scale_loss(1.0, optimizer) as scaled_loss:
        scaled_loss.backward()
    return apex, initialize, scale_loss
