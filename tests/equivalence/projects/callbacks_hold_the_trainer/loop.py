import torch
import torch.nn.functional as F


class Callback:
    def set_trainer(self, trainer):
        self.trainer = trainer

    def on_train_begin(self):
        pass

    def on_batch_end(self):
        pass


class CallbackList:
    def __init__(self, callbacks):
        self.callbacks = list(callbacks)

    def set_trainer(self, trainer):
        for callback in self.callbacks:
            callback.set_trainer(trainer)

    def __getattr__(self, name):
        def run():
            for callback in self.callbacks:
                getattr(callback, name)()

        return run


class Loop:
    def __init__(self, model, callbacks):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.history = []
        self.callbacks = CallbackList(callbacks)
        self.callbacks.set_trainer(self)

    def fit(self, loader):
        self.callbacks.on_train_begin()
        for x, y in loader:
            self.loss = F.cross_entropy(self.model(x.cuda()), y.cuda())
            self.callbacks.on_batch_end()
