# expect: review
# shape: a base's constructor keeps the options, the subclass initializes in one method (an averaged model too) and trains in another

import argparse
import copy

import torch
import torch.nn as nn
from apex import amp


class Base(object):
    def __init__(self, args):
        self.args = args


class Trainer(Base):
    def __init__(self, args):
        super(Trainer, self).__init__(args)

    def wrap_up(self, model, average, optimizer):
        args = self.args
        if args.amp:
            model, optimizer = amp.initialize(model, optimizer, opt_level=args.opt_level)
            if isinstance(average, nn.Module):
                average = amp.initialize(average, opt_level=args.opt_level)
        return model, average, optimizer

    def train(self, loader, model, average, optimizer):
        args = self.args
        for x, y in loader:
            with torch.no_grad():
                target = average(x)
            loss = nn.functional.cross_entropy(model(x), y) + nn.functional.mse_loss(model(x), target)
            optimizer.zero_grad()
            if args.amp:
                with amp.scale_loss(loss, optimizer) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
            optimizer.step()
            print("%.6f" % loss.item())


def main(args):
    trainer = Trainer(args)
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    average = copy.deepcopy(model)
    model, average, optimizer = trainer.wrap_up(model, average, optimizer)
    trainer.train([(torch.randn(3, 4), torch.tensor([0, 1, 1])) for _ in range(4)], model, average, optimizer)


if __name__ == "__main__":
    torch.manual_seed(7)
    parser = argparse.ArgumentParser()
    parser.add_argument("--amp", action="store_true", default=True)
    parser.add_argument("--opt-level", default="O1")
    main(parser.parse_args())
