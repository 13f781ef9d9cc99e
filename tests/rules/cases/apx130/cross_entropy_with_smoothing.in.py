# expect: info losses are float32 now
import torch.nn.functional as F
from apex.contrib import xentropy


class Criterion:
    def __call__(self, logits, labels):
        losses = xentropy.SoftmaxCrossEntropyLoss.apply(logits, labels, self.smoothing, self.pad)
        return losses.sum() / (labels != self.pad).sum()
