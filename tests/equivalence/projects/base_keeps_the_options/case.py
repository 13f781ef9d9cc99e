# expect: safe

from argparse import Namespace

import torch

from gan_model import GANModel


def main(fp16=True):
    torch.manual_seed(0)
    model = GANModel(Namespace(fp16=fp16, lr=0.01))
    data = [(torch.randn(4, 4), torch.randn(4, 3)) for _ in range(4)]
    out = [model.optimize_parameters(noise, real) for noise, real in data]
    return out, list(model.netG.parameters()), list(model.netD.parameters())


if __name__ == "__main__":
    print(main())
