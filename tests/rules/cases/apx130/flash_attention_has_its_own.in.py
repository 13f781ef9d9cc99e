from flash_attn.losses.cross_entropy import CrossEntropyLoss as SoftmaxCrossEntropyLoss
from flash_attn.ops.fused_dense import FusedDense

criterion = SoftmaxCrossEntropyLoss(inplace_backward=True)
layer = FusedDense(8, 8)
