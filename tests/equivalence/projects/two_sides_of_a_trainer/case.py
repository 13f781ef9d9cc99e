# expect: review

import torch
from work.options import options
from work.trainer import Trainer


def run(words):
    torch.manual_seed(0)
    trainer = Trainer(torch.nn.Linear(4, 1), options(words))
    scores = trainer.train([(torch.randn(4, 4), torch.randn(4, 1)) for _ in range(6)])
    return trainer.losses, scores, list(trainer.model.parameters()), len(trainer.save())


def main():
    plain = run([])
    return plain, run(["--fp16", "--fp16_backend", "apex"])


if __name__ == "__main__":
    print(main())
