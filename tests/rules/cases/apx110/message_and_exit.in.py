import sys

import torch

try:
    from apex.optimizers import FusedAdam
except ImportError:
    print("install apex first")
    sys.exit(1)

optimizer = FusedAdam(model.parameters(), 1e-3)
