# bug: bias_correction may stand in *args, and weight_decay=0.0 is not written
# expect: manual what this is called with is not told here
from apex.optimizers import FusedAdam

optimizer = FusedAdam(*arguments, lr=0.1)
