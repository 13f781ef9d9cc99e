# expect: manual the optimizer's own master weights have no counterpart
from apex.optimizers import FusedAdam

optimizer = FusedAdam(model.parameters(), capturable=True, master_weights=True)
