import mxnet as mx
from mxnet import autograd as ag
from mxnet.contrib import amp


def fit_epoch(net, trainer, batches, loss_fn, params):
    if params.amp:
        amp.init()
        amp.init_trainer(trainer)
    for data, label in batches:
        with ag.record():
            losses = [loss_fn(net(x), y) for x, y in zip(data, label)]
            if params.amp:
                with amp.scale_loss(losses, trainer) as scaled_loss:
                    ag.backward(scaled_loss)
            else:
                ag.backward(losses)
        trainer.step(len(data))
    mx.nd.waitall()
