# settings: keep_fused=true
# expect: info apex.contrib.xentropy.SoftmaxCrossEntropyLoss works with a GradScaler and stays
from apex.contrib.xentropy import SoftmaxCrossEntropyLoss

losses = SoftmaxCrossEntropyLoss.apply(logits, labels, 0.1)
