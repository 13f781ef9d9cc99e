# expect: manual apex.contrib.optimizers.FusedAdam has no counterpart
from apex.contrib.optimizers import FusedAdam

optimizer = FusedAdam(model.parameters(), lr=1e-3, eps_inside_sqrt=True)
