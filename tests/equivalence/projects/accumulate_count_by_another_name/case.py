# expect: review: whether a step may come with no backward
# shape: a count that is handed on by several names decides whether each batch is a step

import torch
from params import Params
from models.builder import build_optim, Summarizer
from models.trainer import build_trainer


def main():
    args = Params(accum_count=2, lr=0.05, train_steps=4, report_every=2, fp16=True, max_grad_norm=2.0, param_init=0.1, seed=666)
    torch.manual_seed(args.seed)
    model = Summarizer(args)
    optim = build_optim(args, model)
    trainer = build_trainer(args, 0, model, optim)
    batches = [(torch.randint(0, 25, (3, 6)), torch.randint(0, 2, (3, 6)).float()) for _ in range(5)]
    trainer.train(lambda: iter(batches), args.train_steps)
    return trainer.reports, trainer.validate(batches), [p.sum() for p in model.parameters()]


if __name__ == "__main__":
    main()
