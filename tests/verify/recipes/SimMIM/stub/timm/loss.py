from torch import nn


class LabelSmoothingCrossEntropy(nn.CrossEntropyLoss):
    def __init__(self, smoothing):
        super().__init__(label_smoothing=smoothing)


class SoftTargetCrossEntropy(nn.CrossEntropyLoss):
    pass
