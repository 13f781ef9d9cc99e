# expect: manual what this is called with is not told here
from apex.contrib.xentropy import SoftmaxCrossEntropyLoss

losses = SoftmaxCrossEntropyLoss.apply(*tensors)
