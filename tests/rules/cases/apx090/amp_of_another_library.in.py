import mxnet as mx
from mxnet import autograd
from mxnet.contrib import amp


class Precision:
    def scale_loss(self, loss, optimizer):
        return loss


class Trainer:
    def __init__(self, net, trainer):
        self.net, self.trainer, self.amp = net, trainer, Precision()

    def step(self, x):
        with autograd.record():
            loss = self.net(x)
            with amp.scale_loss(loss, self.trainer) as scaled_loss:
                autograd.backward(scaled_loss)
        self.amp.scale_loss(loss, self.trainer).backward()
        mx.amp.scale_loss(loss, self.trainer)
        self.trainer.step(1)
