import torch
from apex.optimizers import (
    FusedMixedPrecisionLamb,  # for the rest
)

head = torch.optim.AdamW(model.head.parameters(), lr=1e-3, weight_decay=0.0, fused=True)
rest = FusedMixedPrecisionLamb(model.body.parameters(), lr=1e-3)
