# expect: manual apex.optimizers.FusedLAMB has no counterpart in torch that t
from apex.optimizers import FusedLAMB

optimizer = FusedLAMB(model.parameters())
