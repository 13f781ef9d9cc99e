# expect: info apex.optimizers still exists
from apex.optimizers import FusedLAMB

optimizer = FusedLAMB(model.parameters())
