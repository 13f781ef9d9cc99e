# expect: review
# differs: forwards|losses

import torch
import torch.nn as nn

from contrast.trainer import ContrastTrainer
from contrast.linear import LinearTrainer


def main():
    torch.manual_seed(0)
    encoder = nn.Linear(4, 3)
    data = [(torch.randn(4, 4), torch.randn(4, 4), torch.randint(0, 2, (4,))) for _ in range(3)]
    a = ContrastTrainer(encoder, fp16=True).fit(data)
    b = LinearTrainer(encoder, nn.Linear(3, 2), fp16=False).fit(data)
    return a, b, list(encoder.parameters())


if __name__ == "__main__":
    print(main())
