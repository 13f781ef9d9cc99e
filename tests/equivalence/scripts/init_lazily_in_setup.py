# expect: safe
# shape: setup() initializes when training begins; predict() also works on an object that never trained

import torch
import torch.nn as nn
from apex import amp


class Engine:
    ready = False

    def __init__(self, model, fp16):
        self.model, self.fp16 = model.cuda(), fp16
        self.optimizer = None

    def setup(self):
        if self.ready:
            return
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        if self.fp16:
            self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")
        self.ready = True

    def fit(self, batches):
        self.setup()
        for i, (x, y) in enumerate(batches):
            loss = nn.functional.mse_loss(self.model(x.cuda()), y.cuda())
            self.optimizer.zero_grad()
            if self.fp16:
                with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
            self.optimizer.step()
            print(i, "%.6f" % loss.item())

    def predict(self, x):
        with torch.no_grad():
            return self.model(x.cuda()).sum().item()


torch.manual_seed(408)
batches = [(torch.randn(4, 3), torch.randn(4, 2)) for _ in range(3)]
engine = Engine(nn.Linear(3, 2), True)
print("untrained %.4f" % engine.predict(batches[0][0]))
engine.fit(batches)
engine.fit(batches)
print("trained %.4f" % engine.predict(batches[0][0]))
