# expect: manual this function is handed on, and torch's has other arguments
from apex.contrib.xentropy import SoftmaxCrossEntropyLoss

criterion = Trainer(loss=SoftmaxCrossEntropyLoss.apply)
