import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Replay:
    def __init__(self):
        self.rng = np.random.default_rng(0)
        self.steps = deque(maxlen=100)

    def fill(self):
        state = self.rng.normal(size=4)
        self.steps.append((state, 1, state * 0.9))

    def sample(self, n):
        state = self.rng.normal(size=(n, 4))
        return state, self.rng.integers(0, 2, n), state * 0.9

    def recall(self, n):
        state, action, after = map(np.stack, zip(*random.sample(self.steps, n)))
        return state, action, after


def main():
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    replay = Replay()
    for _ in range(3):
        replay.fill()
        s, a, s2 = (torch.from_numpy(v) for v in replay.sample(8))
        t, *rest = [torch.tensor(v) for v in replay.recall(1)]
        with torch.no_grad(), torch.autocast("cuda", dtype=torch.float16):
            goal = model(s2.float()).max(1)[0] + model(rest[-1].float()).max()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = F.smooth_l1_loss(
                model(s.float()).gather(1, a[:, None]).squeeze(1), goal
            ) + model(t.float()).mean()
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
