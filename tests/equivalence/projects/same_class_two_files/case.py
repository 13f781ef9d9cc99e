# expect: safe

import torch
import torch.nn as nn

import stage_one
import stage_two


def main():
    torch.manual_seed(0)
    first = stage_one.Trainer(nn.Linear(3, 3))
    a = first.fit(3)
    second = stage_two.Trainer(first.model, nn.Linear(3, 1))
    b = second.fit(3)
    return a, b, list(first.model.parameters()), list(second.head.parameters())


if __name__ == "__main__":
    print(main())
