import torch

use_apex = False
no_apex_message = 'apex was requested but amp.initialize is not supported any more'


def train(model, optimizer, loader, use_amp=False, apex=None):
    """apex: kept for old callers, must be None."""
    if use_apex or apex is not None:
        raise ValueError(no_apex_message)
    for x in loader:
        with torch.autocast("cuda", enabled=use_amp):
            loss = model(x).mean()
        loss.backward()
        optimizer.step()
