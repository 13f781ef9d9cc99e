# expect: safe

import torch

from train import fit


def main():
    torch.manual_seed(0)
    cfg = {"in": 4, "out": 2, "optim": "sgd", "lr": 0.05, "fp16": True, "epochs": 2, "blow_up": (0, 2)}
    loader = [(torch.randn(3, 4), torch.randn(3, 2)) for _ in range(4)]
    model, losses = fit(cfg, loader)
    return losses, list(model.parameters())


if __name__ == "__main__":
    print(main())
