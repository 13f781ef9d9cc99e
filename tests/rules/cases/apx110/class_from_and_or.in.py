# bug: `name == "fused" and FusedAdam or …` becomes `name == "fused" or …`
# expect: manual FusedAdam
import torch
from apex.optimizers import FusedAdam


def kind(name):
    return name == "fused" and FusedAdam or torch.optim.Adam
