# the apex of MXNet's amp is its Trainer
from mxnet import autograd
from mxnet.contrib import amp

amp.init()
amp.init_trainer(trainer)
with autograd.record():
    loss = criterion(net(x), y)
    with amp.scale_loss(loss, trainer) as scaled_loss:
        autograd.backward(scaled_loss)
trainer.step(1)
