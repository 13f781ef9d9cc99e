from contextlib import contextmanager

from apex import amp


@contextmanager
def maybe_scaled(loss, optimizer, enabled):
    if enabled:
        with amp.scale_loss(loss, optimizer) as scaled:
            yield scaled
    else:
        yield loss
