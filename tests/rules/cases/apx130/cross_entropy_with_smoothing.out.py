import torch.nn.functional as F


class Criterion:
    def __call__(self, logits, labels):
        losses = F.cross_entropy(
            logits.float(),
            labels,
            ignore_index=self.pad,
            label_smoothing=self.smoothing,
            reduction="none",
        )
        return losses.sum() / (labels != self.pad).sum()
