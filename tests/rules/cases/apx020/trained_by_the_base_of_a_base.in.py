# expect: manual the loss of this optimizer is not scaled in this file
import torch
from apex import amp
from library import Trainer


class Base(Trainer):
    def __init__(self, model, optimizer):
        super().__init__(model)
        self.optimizer = optimizer


class Mine(Base):
    pass


def main():
    model = torch.nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    trainer = Mine(model, optimizer)
    trainer.fit()
    trainer.evaluate()


main()
