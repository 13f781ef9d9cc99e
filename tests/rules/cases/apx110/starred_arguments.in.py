# expect: manual what `*` hands on is not told here
from apex.optimizers import FusedAdam

optimizer = FusedAdam(*arguments, lr=0.1)
