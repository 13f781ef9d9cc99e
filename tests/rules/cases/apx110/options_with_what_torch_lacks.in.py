# expect: manual adam_w_mode of the options handed on has no counterpart here
from apex.optimizers import FusedAdam

options = dict(lr=1e-3, adam_w_mode=False)
optimizer = FusedAdam(model.parameters(), **options)
