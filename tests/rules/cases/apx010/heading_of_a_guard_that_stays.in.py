import torch
from torch.nn.functional import cross_entropy
from apex import amp


class Trainer:
    def __init__(self, args, model, optimizer):
        self.model, self.optimizer = model, optimizer

    def step(self, x, y):
        loss = cross_entropy(self.model(x), y)
        with amp.scale_loss(loss, self.optimizer) as scaled_loss:
            scaled_loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()


def main(args, loader):
    model = torch.nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    # Initialize Amp.  Amp accepts either values or strings for the optional override arguments,
    # for convenient interoperation with argparse.
    if args.fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
        print("Got fp16!")

    # Amp's training.
    trainer = Trainer(args, model, optimizer)
    for x, y in loader:
        trainer.step(x, y)
