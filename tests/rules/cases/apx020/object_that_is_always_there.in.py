# expect: review several objects of Trainer
import torch
from apex import amp


class Trainer:
    def __init__(self, model, args):
        self.model, self.args = model, args

    def train(self, loader):
        model, optimizer = self.model, torch.optim.SGD(self.model.parameters(), lr=0.1)
        if self.args.fp16:
            model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
        for x in loader:
            optimizer.zero_grad()
            loss = model(x).sum()
            if self.args.fp16:
                with amp.scale_loss(loss, optimizer) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
            optimizer.step()


def main(model, args, loader, other):
    trainer = Trainer(model, args)
    trainer.train(loader)
    if other is not None:
        best_trainer = Trainer(other, args)
        print(best_trainer.model)
    with torch.no_grad():
        print(trainer.model(next(iter(loader))).sum())


if __name__ == "__main__":
    main(*parse())
