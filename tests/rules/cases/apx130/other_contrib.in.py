from tensorflow.contrib import layers as contrib
from fairseq.contrib.xentropy import SoftmaxCrossEntropyLoss

loss = SoftmaxCrossEntropyLoss.apply(contrib.flatten(x), y)
