# expect: review ApexAdam
from apex.optimizers import FusedAdam


def warmed(optimizer):
    group = optimizer.param_groups[0]
    return group["step"] + 1 if "step" in group else 1


optimizer = FusedAdam(model.parameters(), lr=0.1)
