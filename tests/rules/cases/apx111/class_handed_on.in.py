# expect: review what is made of this class is made elsewhere
import torch
from apex.optimizers import FusedSGD

OPTIMIZERS = {"sgd": torch.optim.SGD, "fused": FusedSGD}
