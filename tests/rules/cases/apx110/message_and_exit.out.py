import sys

import torch

optimizer = torch.optim.AdamW(model.parameters(), 1e-3, weight_decay=0.0, fused=True)
