# expect: review torch has no counterpart: the class ClippingAdam
from apex.contrib.optimizers import FusedAdam

optimizer = FusedAdam(model.parameters(), lr=1e-3, eps_inside_sqrt=True)
