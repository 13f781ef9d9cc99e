from apex import amp


class MixedPrecision:
    def __init__(self, opt_level="O1"):
        self.opt_level = opt_level

    def begin_fit(self):
        learn = self.learn
        learn.model, learn.opt = amp.initialize(learn.model, learn.opt, opt_level=self.opt_level)
        learn.backward = self.backward

    def backward(self, loss):
        with amp.scale_loss(loss, self.learn.opt) as scaled:
            scaled.backward()
