# expect: review

import torch
from data import batches
from model import Net
from trainer import Trainer


def main():
    torch.manual_seed(0)
    trainer = Trainer(Net().cuda(), math="fp16", grad_clip=1.0, loss_scaling=dict(init_scale=1024, upscale_interval=3))
    out = trainer.feed_data(batches(9, 1, bad=(5,)))
    return out, [p.sum() for p in trainer.model.parameters()]


if __name__ == "__main__":
    print(main())
