from optimizers import FusedSGD
from optimizers.fused import FusedAdam

optimizer = FusedSGD(model.parameters(), lr=0.1, wd_after_momentum=True)
