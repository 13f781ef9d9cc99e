# expect: manual batch_size of the options handed on has no counterpart here
from apex.optimizers import FusedAdam


def main(model, data, fast):
    kw = {"batch_size": 8}
    if fast:
        kw = {"lr": 1e-3}
    return FusedAdam(model.parameters(), **kw)
