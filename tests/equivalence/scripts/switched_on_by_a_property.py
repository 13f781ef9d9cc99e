# expect: review: each with its own switch
# shape: a property's setter initializes

import torch
from torch import nn
import torch.nn.functional as F
try:
    from apex import amp
except ImportError:
    amp = None

class Trainer(object):
    def __init__(self, model=None):
        self._model = model
        self._optimizer = None
        self._mixed_precision = False
        self.losses = []

    @property
    def mixed_precision(self):
        return self._mixed_precision

    @mixed_precision.setter
    def mixed_precision(self, mp):
        if mp:
            assert amp is not None
            self.model, self._optimizer = amp.initialize(self.model, self._optimizer, opt_level='O1')
        self._mixed_precision = mp

    @property
    def model(self):
        return self._model

    @model.setter
    def model(self, value):
        self._model = value

    @property
    def optimizer(self):
        return self._optimizer

    def build_optimizer(self, method, **kwargs):
        self._optimizer = getattr(torch.optim, method)(self.model.parameters(), **kwargs)
        return self

    def apply_model(self, *inputs):
        return self.model(*inputs)

    def apply_model_and_loss(self, x, y, backward=True):
        prediction = self.apply_model(x)
        loss = F.cross_entropy(prediction, y)
        if backward:
            if self.mixed_precision:
                with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
        return prediction, loss

    def fit(self, data):
        self.model.train()
        for x, y in data:
            self.optimizer.zero_grad()
            _, loss = self.apply_model_and_loss(x, y, backward=True)
            self.optimizer.step()
            self.losses.append(loss.item())
        return self

    def validate(self, data):
        self.model.eval()
        with torch.no_grad():
            for x, y in data:
                _, loss = self.apply_model_and_loss(x, y, backward=False)
                self.losses.append(loss.item())
        return self

def main():
    torch.manual_seed(0)
    data = [(torch.randn(4, 6), torch.randint(0, 3, (4,))) for _ in range(3)]
    t = Trainer(nn.Linear(6, 3))
    t.validate(data)
    t.build_optimizer('SGD', lr=0.1)
    t.fit(data).validate(data)
    u = Trainer(nn.Linear(6, 3)).build_optimizer('SGD', lr=0.1)
    u.mixed_precision = True
    u.fit(data).validate(data)
    return t.losses + u.losses
if __name__ == '__main__':
    for value in main():
        print(value)
