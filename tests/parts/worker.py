"""One process of several that train together: ``worker.py RANK SIZE FOLDER``.

FOLDER holds ``store`` (made by the first), programs ``<name>.py`` and leaves ``<name>.RANK.pt`` with what each of them
came to. A program finds `model`, `optimizer`, `batches` and `rank`; what it trains is called `model` in the end.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import torch
from torch import nn

STEPS, PROCESSES = 20, 2


class Net(nn.Module):
    """With statistics of batches, and a layer that not every training needs."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm = nn.Linear(4, 5), nn.BatchNorm1d(5, momentum=0.3)
        self.spare, self.last = nn.Linear(5, 5), nn.Linear(5, 2)

    def forward(self, x: torch.Tensor, spare: bool = True) -> torch.Tensor:
        x = torch.tanh(self.norm(self.first(x)))
        found: torch.Tensor = self.last(torch.tanh(self.spare(x)) if spare else x)
        return found


def made(rank: int) -> tuple[Net, torch.optim.Optimizer, list[tuple[torch.Tensor, torch.Tensor]]]:
    """What a process begins with: weights, buffers and data of its own."""
    torch.manual_seed(rank)
    model = Net().double()
    for name, buffer in model.named_buffers():
        if "running" in name:
            buffer.add_(0.5 * rank)
    generator = torch.Generator().manual_seed(10 + rank)
    data = torch.randn(STEPS, 2, 6, 4, generator=generator, dtype=torch.float64)
    return model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), [(one[0], one[1, :, :2]) for one in data]


def main(rank: int, size: int, folder: Path) -> None:
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", f"file://{folder / 'store'}", rank=rank, world_size=size)
    for program in sorted(folder.glob("*.py")):
        model, optimizer, batches = made(rank)
        space: dict[str, Any] = {"model": model, "optimizer": optimizer, "batches": batches, "rank": rank}
        exec(compile(program.read_text(encoding="utf-8"), program.name, "exec"), space)
        torch.save({"state": model.state_dict(), "said": space.get("said")}, folder / f"{program.stem}.{rank}.pt")
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
