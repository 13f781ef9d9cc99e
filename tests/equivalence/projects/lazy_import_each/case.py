# expect: safe

from types import SimpleNamespace

import torch
import torch.nn as nn

from fit import fit_batch
from setup_model import prepare


def main():
    args = SimpleNamespace(fp16=True, fp16_opt_level="O1")
    torch.manual_seed(0)
    model, opt = prepare(args)
    out = [fit_batch(args, model, opt, torch.randn(3, 4), torch.randn(3, 2)) for _ in range(4)]
    return out, list(model.parameters())


if __name__ == "__main__":
    print(main())
