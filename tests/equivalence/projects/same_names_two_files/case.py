# expect: safe

import torch
import torch.nn as nn

import finetune
import pretrain


def main():
    torch.manual_seed(0)
    backbone = nn.Linear(4, 4)
    a = pretrain.main(backbone)
    b = finetune.main(backbone)
    return a, b, list(backbone.parameters())


if __name__ == "__main__":
    print(main())
