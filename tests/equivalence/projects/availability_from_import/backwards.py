from compat import APEX_AVAILABLE as HAVE_APEX
from compat import amp as apex_amp


def scaled_backward(loss, optimizer):
    assert HAVE_APEX
    with apex_amp.scale_loss(loss, optimizer) as scaled:
        scaled.backward()
