# expect: review: one region runs the head without gradients and then with them
# casts: real

import torch
import torch.nn as nn
from torch.utils.data import DataLoader

from data import EncodedSet
from embed import create_embeddings, log_samples
from engine import fit
from teacher import Committee, Teacher


class Head(nn.Linear):
    def generate(self, x, n=1):
        for _ in range(n):
            x = x + self(x).repeat(1, 2)
        return x


def main():
    torch.manual_seed(0)
    encoder = nn.Linear(4, 6)
    head = Head(6, 3)
    teacher = Teacher(head)
    committee = Committee([nn.Linear(6, 3), nn.Linear(6, 3)])
    samples = EncodedSet(torch.rand(8, 4), torch.randint(0, 3, (8,)), encoder)
    out = fit(head, teacher, DataLoader(samples, batch_size=4))
    x, _ = samples[0]
    x = x.float()[None]
    out += [x.sum().item(), teacher.targets(x).sum().item(), committee.vote(x).sum().item()]
    return out + [create_embeddings(head, [x, x]).sum().item(), log_samples(head, x)]


if __name__ == "__main__":
    print(main())
