import torch
from apex.optimizers import FusedAdam


def main(model, data):
    kw = dict(lr=1e-3, betas=(0.9, 0.98), weight_decay=0.1)
    if model.trains:
        optimizer = FusedAdam(model.parameters(), **kw)
    kw = {"batch_size": 8, "num_workers": 2}
    return optimizer, torch.utils.data.DataLoader(data, **kw)
