# expect: safe

import torch

from config import cfg
from modeling import Baseline, make_loss
from processor import do_inference, do_train


def main():
    torch.manual_seed(0)
    model = Baseline(6, 4)
    loader = [(torch.randn(4, 6), torch.randint(0, 4, (4,))) for _ in range(4)]
    losses = do_train(cfg, model, loader, loader[:1], make_loss(cfg))
    feats = do_inference(cfg, model, loader[:2])
    return losses, feats, list(model.parameters())


if __name__ == "__main__":
    print(main())
