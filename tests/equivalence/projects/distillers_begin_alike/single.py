import torch
import torch.nn as nn

from basic import Basic
from case import Config, batches


def main():
    student, teacher = nn.Linear(3, 1), nn.Linear(3, 1)
    distiller = Basic(Config(2), student, teacher)
    return distiller.train(torch.optim.SGD(student.parameters(), lr=0.1), batches(6), num_epochs=2)


if __name__ == "__main__":
    print(main())
