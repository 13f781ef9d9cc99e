# expect: safe
# shape: a derived trainer clips and hands the step on to its base, by super() or by the class

import torch
from torch import nn
import torch.nn.functional as F
from apex import amp

class Base:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level='O1')
        self.log = []
    def backward(self, loss):
        with amp.scale_loss(loss, self.optimizer) as scaled_loss:
            scaled_loss.backward()
    def optimizer_step(self):
        self.optimizer.step()
    def fit(self, data):
        for x, y in data:
            loss = F.cross_entropy(self.model(x), y)
            self.optimizer.zero_grad()
            self.backward(loss)
            self.optimizer_step()
            self.log.append(loss.item())

class Clipping(Base):
    def optimizer_step(self):
        nn.utils.clip_grad_norm_(amp.master_params(self.optimizer), 0.1)
        super().optimizer_step()

def main(kind):
    torch.manual_seed(0)
    t = kind(nn.Linear(6, 3))
    t.fit([(torch.randn(4, 6), torch.randint(0, 3, (4,))) for _ in range(4)])
    return t.log
class Named(Base):
    def optimizer_step(self):
        nn.utils.clip_grad_norm_(amp.master_params(self.optimizer), 0.1)
        Base.optimizer_step(self)

if __name__ == '__main__':
    for kind in (Clipping, Named):
        for value in main(kind):
            print(value)
