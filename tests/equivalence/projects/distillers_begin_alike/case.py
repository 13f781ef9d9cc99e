# expect: review

import torch
import torch.nn as nn

from rounds import ByTask


class Config:
    def __init__(self, accumulate):
        self.fp16 = True
        self.accumulate = accumulate


def batches(n):
    found = [(torch.randn(4, 3), torch.randn(4, 1)) for _ in range(n)]
    found[1] = (found[1][0] * 1e36, found[1][1])  # an overflow
    return found


def main():
    torch.manual_seed(0)
    student, teacher = nn.Linear(3, 1), nn.Linear(3, 1)
    several = ByTask(Config(2), student, {"a": teacher, "b": nn.Linear(3, 1)})
    results = several.train(torch.optim.Adam(student.parameters(), lr=0.1), {"a": batches(6), "b": batches(6)})
    return results, list(student.parameters())


if __name__ == "__main__":
    print(main())
