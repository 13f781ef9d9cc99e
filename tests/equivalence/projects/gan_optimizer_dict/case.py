# expect: review

import torch

from gan import GAN
from options import Options


def main():
    torch.manual_seed(0)
    gan = GAN(Options())
    logs = []
    for i in range(4):
        gan.set_input(torch.randn(4, 3))
        gan.optimize_parameters()
        logs.append(gan.get_losses())
    return logs, list(gan.G.parameters()), list(gan.D.parameters())


if __name__ == "__main__":
    print(main())
