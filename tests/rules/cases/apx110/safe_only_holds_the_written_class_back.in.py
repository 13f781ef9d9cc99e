# settings: safe_only=true
# expect: review held back by --safe-only
from apex.optimizers import FusedAdam

optimizer = FusedAdam(model.parameters(), lr=1e-3, bias_correction=False)
