from fairseq.optim.fused_adam import get_fused_adam_class
from fairseq.optim import fused_adam as optimizers

FusedAdam = get_fused_adam_class()
optimizer = FusedAdam(params, lr=1e-3)
other = optimizers.FusedAdam(params)
