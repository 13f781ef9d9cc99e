# bug: a group may say bias_correction=False itself, which torch's class ignores
# expect: manual bias_correction
from apex.optimizers import FusedAdam

optimizer = FusedAdam([{"params": biases, "bias_correction": False}, {"params": weights}], lr=0.1)
