import torch


class Learner:
    def __init__(self, trainer, callbacks):
        self.trainer, self.callbacks = trainer, callbacks
        self.model = trainer.model

    def fit(self, data):
        for callback in self.callbacks:
            callback.learn = self
            callback.state = {"model": self.model}
        self.trainer.run(data)
        for callback in self.callbacks:
            callback.end()


class Callback:
    @property
    def model(self):
        return self.learn.model


class Held(Callback):
    """By a property of the base, and by a dictionary."""

    def __init__(self, x):
        self.x, self.seen = x, []

    @torch.no_grad()
    def end(self):
        self.seen.append(self.model(self.x).float().sum().item())
        self.seen.append(self.state["model"](self.x).float().mean().item())


class Predict:
    def __init__(self, x):
        self.x, self.seen = x, []

    def end(self):
        with torch.no_grad():
            self.seen.append(self.learn.model(self.x).float().sum().item())
