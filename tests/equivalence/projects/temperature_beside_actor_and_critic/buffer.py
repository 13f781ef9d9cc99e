import numpy as np
import torch


class ReplayBuffer(object):
    def __init__(self, capacity, state_dim, action_dim):
        self.capacity, self.idx, self.full = capacity, 0, False
        self.s = np.zeros((capacity, state_dim), 'float32')
        self.a = np.zeros((capacity, action_dim), 'float32')
        self.r = np.zeros((capacity, 1), 'float32')
        self.s2 = np.zeros((capacity, state_dim), 'float32')
        self.d = np.zeros((capacity, 1), 'float32')

    def push(self, s, a, r, s2, d):
        i = self.idx
        self.s[i], self.a[i], self.r[i], self.s2[i], self.d[i] = s, a, r, s2, d
        self.idx = (i + 1) % self.capacity
        self.full = self.full or self.idx == 0

    def sample(self, n, rng):
        i = rng.randint(0, self.capacity if self.full else self.idx, n)
        return tuple(torch.from_numpy(x[i]) for x in (self.s, self.a, self.r, self.s2, self.d))
