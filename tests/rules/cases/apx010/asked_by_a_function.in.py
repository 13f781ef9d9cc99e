from apex import amp
import torch


def is_apex_available():
    """Whether."""
    try:
        from apex import amp
        return True
    except ImportError:
        return False

HAS = is_apex_available()


def main(model, optimizer, loader, half):
    if half and HAS:
        model, optimizer = amp.initialize(model, optimizer)
    for x in loader:
        loss = model(x)
        if half and is_apex_available():
            with amp.scale_loss(loss, optimizer) as s:
                s.backward()
        else:
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()
