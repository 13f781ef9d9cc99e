# expect: safe

import sys
import types
from pathlib import Path

import torch

LIBRARY = types.ModuleType("loops")  # stands for transformers: nothing of it lies in the tree
exec(Path(__file__).with_name("library.txt").read_text(), LIBRARY.__dict__)
sys.modules["loops"] = LIBRARY


def run(backend):
    from work.loop import LoopTrainer

    torch.manual_seed(0)
    model, teacher = torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    trainer = LoopTrainer(model, optimizer, backend, teacher=teacher)
    trainer.train([(torch.randn(4, 4), torch.randn(4, 1)) for _ in range(4)], 1.0)
    return trainer.losses, list(model.parameters())


def main():
    return run("apex"), run("amp"), run("none")


if __name__ == "__main__":
    print(main())
