# expect: safe

import torch
import torch.nn as nn
from apex import amp

try:
    import missing_extension
    import fast_engine as engine
except ImportError:
    import slow_engine as engine


def main():
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    model, opt = amp.initialize(model, opt, opt_level="O1")
    return engine.fit(model, opt, 3), list(model.parameters())


if __name__ == "__main__":
    print(main())
