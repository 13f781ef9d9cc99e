# exported: FusedAdam
# expect: manual this name may be taken from here
from apex.optimizers import FusedAdam

optimizer = FusedAdam(model.parameters())
