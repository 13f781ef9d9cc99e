# expect: manual batch_size of the options handed on has no counterpart here
from apex.optimizers import FusedAdam


def main(models, data):
    kw = {"lr": 1e-3}
    for model in models:
        optimizer = FusedAdam(model.parameters(), **kw)
        kw = {"batch_size": 8}
