import torch.optim as optim
from apex.optimizers import FusedAdam

optimizer = FusedAdam(p for p in model.parameters() if p.requires_grad)
