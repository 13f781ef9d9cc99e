# like apex.amp.scale_loss, but for one loss
from contextlib import contextmanager


@contextmanager
def scale_loss(loss, optimizer):
    yield loss * 1024


with scale_loss(loss, optimizer) as scaled_loss:
    scaled_loss.backward()
