# expect: manual

import torch
import engine


def main():
    torch.manual_seed(0)
    data = [(torch.randn(4, 5), torch.randint(0, 3, (4,))) for i in range(4)]
    first = engine.run(data)
    out = None
    for name in ("build", "train"):
        f = getattr(engine, name)
        out = f(0.2) if out is None else f(*out, data)
    return first, out
