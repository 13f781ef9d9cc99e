# expect: review torch has no counterpart: the class LAMB that is written out
from apex.optimizers import FusedLAMB

optimizer = FusedLAMB(model.parameters())
