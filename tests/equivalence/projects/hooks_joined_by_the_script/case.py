# expect: review
# differs: forwards

import sys
import types
from pathlib import Path

import torch

LIBRARY = types.ModuleType("loops")  # stands for mmcv: nothing of it lies in the tree
exec(Path(__file__).with_name("library.txt").read_text(), LIBRARY.__dict__)
sys.modules["loops"] = LIBRARY

CONFIG = {"hook": {"type": "ApexHook", "use_fp16": True, "grad_clip": 1.0, "update_interval": 2}, "epochs": 3}


def main():
    torch.manual_seed(0)
    import custom.hooks
    import custom.saving
    from apis.train_api import train

    runner = train(CONFIG, [(torch.randn(4, 4), torch.randn(4, 1)) for _ in range(4)])
    first = [entry for entry in runner.saved if entry != "amp"]
    plain = train({**CONFIG, "hook": {**CONFIG["hook"], "use_fp16": False}}, [(torch.ones(4, 4), torch.ones(4, 1))])
    return runner.losses, first, list(runner.model.parameters()), plain.losses


if __name__ == "__main__":
    print(main())
