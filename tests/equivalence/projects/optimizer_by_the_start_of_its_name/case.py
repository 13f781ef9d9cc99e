# expect: safe
# Adam and its kind are initialized, and another optimizer is not, which is told by how its name begins.

import torch
from data import batches
from trainer import Trainer


def run(optimization, fp16):
    torch.manual_seed(0)
    trainer = Trainer(fp16)
    trainer.load()
    trainer.setup_optimizer(optimization, 0.1)
    losses = trainer.do_train(batches(6, 1, bad=(2,)))
    return losses, trainer.do_inference(batches(2, 2)), [p.sum() for p in trainer.model.parameters()]


def main():
    return run("sgd", False), run("adamw-long", False), run("adamw", True)


if __name__ == "__main__":
    print(main())
