try:
    from apex import amp, optimizers
except ImportError:
    pass


class BaseTrainer(object):
    def __init__(self, fp16):
        self.fp16 = fp16

    def wrap(self, model, optimizer):
        if self.fp16:
            model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
        return model, optimizer

    def backward(self, loss, optimizer):
        if self.fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
