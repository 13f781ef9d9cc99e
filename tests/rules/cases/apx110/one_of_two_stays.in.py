# expect: manual apex.optimizers.FusedMixedPrecisionLamb has no counterpart
import torch
from apex.optimizers import (
    FusedAdam,  # for the head
    FusedMixedPrecisionLamb,  # for the rest
)

head = FusedAdam(model.head.parameters(), lr=1e-3)
rest = FusedMixedPrecisionLamb(model.body.parameters(), lr=1e-3)
