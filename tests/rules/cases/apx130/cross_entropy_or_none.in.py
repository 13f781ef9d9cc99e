# expect: info losses are float32 now
import torch.nn.functional as F

try:
    from apex.contrib.xentropy import SoftmaxCrossEntropyLoss
except ImportError:
    SoftmaxCrossEntropyLoss = None


def loss(x, y):
    if SoftmaxCrossEntropyLoss is not None:
        return SoftmaxCrossEntropyLoss.apply(x, y, 0.0, -100)
    return F.cross_entropy(x, y, reduction="none")
