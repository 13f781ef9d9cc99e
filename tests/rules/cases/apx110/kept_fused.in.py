# settings: keep_fused=true
# expect: info apex.optimizers.FusedAdam works with a GradScaler and stays
from apex.optimizers import FusedAdam

optimizer = FusedAdam(model.parameters(), lr=1e-3)
