# expect: safe
# casts: real

import torch, torch.nn as nn, torch.nn.functional as F
from apex import amp


def main():
    torch.manual_seed(0); m, m2 = nn.Linear(6, 3), nn.Linear(6, 3); o = torch.optim.SGD(list(m.parameters()) + list(m2.parameters()), 0.1)
    [m, m2], o = amp.initialize([m, m2], o, opt_level="O1", verbosity=0)
    for i in range(2):
        x, y = torch.rand(4, 6), torch.randint(0, 3, (4,)); a = m(x)
        b = m2(x); c = a + b; loss = F.cross_entropy(c, y); o.zero_grad()
        with amp.scale_loss(loss, o) as s: s.backward()
        o.step()
    u = m(x)
    v = m2(x); w = u @ v.t(); n = w.element_size(); k = 1
    p = m(x); q = m2(
        x); print(k); r = 2
    return [n, k, r, q.element_size()]


if __name__ == "__main__":
    print(main())
