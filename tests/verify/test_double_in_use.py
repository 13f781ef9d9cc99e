"""Parts beside amp under `apex2native verify`: the old script on the double, beside what the migration makes of it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from migrate.verify import comparing
from migrate.verify.comparing import Noise, Parted, Seen
from migrate.verify.history import History, read
from migrate.verify.running import Bounds, run
from migrate.verify.verdict import REFUSED
from tests.effort import long
from tests.verify.play import Player, settings

COMMAND = ("python", "train.py")
BOUNDS = Bounds(50, 60.0, 1 << 34)

MASTERS = """\
import torch
import torch.nn as nn
from apex.fp16_utils import FP16_Optimizer, network_to_half

model = network_to_half(nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.Linear(16, 4)).cuda())
optimizer = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9)
optimizer = FP16_Optimizer(optimizer, dynamic_loss_scale=True, verbose=False)
data = [(torch.randn(6, 8), torch.randint(0, 4, (6,))) for _ in range(8)]
for x, y in data:
    loss = nn.functional.cross_entropy(model(x.cuda()).float(), y.cuda())
    optimizer.zero_grad()
    optimizer.backward(loss)
    optimizer.clip_master_grads(1.0)
    optimizer.step()
"""

LAYERS = """\
import torch
import torch.nn as nn
from apex import amp
from apex.contrib.clip_grad import clip_grad_norm_
from apex.contrib.xentropy import SoftmaxCrossEntropyLoss
from apex.normalization import FusedLayerNorm, FusedRMSNorm
from apex.optimizers import FusedNovoGrad

model = nn.Sequential(nn.Linear(8, 16), FusedLayerNorm(16), nn.ReLU(), FusedRMSNorm(16), nn.Linear(16, 4)).cuda()
optimizer = FusedNovoGrad(model.parameters(), lr=0.01, weight_decay=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
data = [(torch.randn(6, 8), torch.randint(0, 4, (6,))) for _ in range(8)]
for x, y in data:
    loss = SoftmaxCrossEntropyLoss.apply(model(x.cuda()), y.cuda(), 0.1, -1).mean()
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    clip_grad_norm_(amp.master_params(optimizer), 1.0)
    optimizer.step()
"""

PROCESSES = """\
import os

import torch
import torch.nn as nn
from apex import amp
from apex.optimizers import FusedAdam
from apex.parallel import DistributedDataParallel, convert_syncbn_model

rank = int(os.environ["RANK"])
torch.distributed.init_process_group("nccl", init_method="file://" + os.path.abspath("store"), rank=rank, world_size=2)
model = nn.Sequential(nn.Linear(8, 16, bias=False), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 4))
model = convert_syncbn_model(model).cuda()
optimizer = FusedAdam(model.parameters(), lr=0.01)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
model = DistributedDataParallel(model, delay_allreduce=True)
made = torch.Generator().manual_seed(rank)
for _ in range(6):
    x, y = torch.randn(6 + rank, 8, generator=made), torch.randint(0, 4, (6 + rank,), generator=made)
    loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda())
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
torch.distributed.destroy_process_group()
"""


def trees(folder: Path, text: str, *changes: tuple[str, str]) -> tuple[Path, Path]:
    """The old text, and the migrated one with changes."""
    old, new = folder / "old", folder / "new"
    for tree in (old, new):
        tree.mkdir()
        (tree / "train.py").write_text(text)
    subprocess.run([sys.executable, "-m", "migrate", str(new), "--write"], capture_output=True, check=False)
    made = (new / "train.py").read_text()
    assert "apex" not in made.split("class ")[0], made
    for before, after in changes:
        assert before in made
        made = made.replace(before, after, 1)
    (new / "train.py").write_text(made)
    return old, new


def overflowed(old: Sequence[History]) -> int:
    """The backward that was made to overflow: one step was left out for it."""
    found = next((one.overflow for one in old if one.overflow is not None), None)
    assert found is not None and [event["taken"] for event in old[0].of("step")].count(False) == 1
    return found


def played(player: Player, folder: Path, text: str, *changes: tuple[str, str]) -> tuple[Parted | None, Seen, History]:
    before, after = trees(folder, text, *changes)
    old = read(player.run(COMMAND, settings("old", before, chooses=True), BOUNDS).records)
    asked = settings("new", after, overflow=overflowed(old), refused=REFUSED)
    new = read(player.run(COMMAND, asked, BOUNDS).records)
    seen = Seen()
    return comparing.compare(old, new, Noise(1e-5), seen), seen, new[0]


def test_master_weights_written_out_scale_and_skip_in_the_same_way(player: Player, tmp_path: Path) -> None:
    parted, seen, new = played(player, tmp_path, MASTERS)
    assert parted is None and seen.exact
    assert [event["scale"] for event in new.of("backward")] == [2.0**16] * 3 + [2.0**15] * 5
    assert seen.counts["clips"] == 7  # none after an overflow


@pytest.mark.parametrize(
    ("mistake", "quantity"),
    [
        (("    optimizer.clip_master_grads(1.0)\n", ""), "clips"),
        (("self.overflow = True", "self.overflow = False"), "step taken"),
        (("    optimizer.zero_grad()\n", ""), "clips"),
        (("0.05, momentum=0.9", "0.05, momentum=0.8"), "weights"),
    ],
)
def test_mistakes_around_them_are_seen(player: Player, tmp_path: Path, mistake: tuple[str, str], quantity: str) -> None:
    parted, _, _ = played(player, tmp_path, MASTERS, mistake)
    assert parted is not None
    assert parted.first(quantity) is not None, parted.differences


def test_layers_losses_and_optimizers(player: Player, tmp_path: Path) -> None:
    parted, seen, _ = played(player, tmp_path, LAYERS)
    assert parted is None, parted
    assert seen.counts["losses"] == 8 and seen.counts["weights"] == 7


@long
def test_two_processes(tmp_path: Path) -> None:
    """Apex's wrapper and batch norm talk through gloo, and so do torch's that take their place."""
    before, after = trees(tmp_path, PROCESSES)
    command = ["sh", "-c", f"RANK=1 {sys.executable} train.py & RANK=0 {sys.executable} train.py && wait"]
    old = read(run(command, settings("old", before, chooses=True), BOUNDS).records)
    new = read(run(command, settings("new", after, overflow=overflowed(old), refused=REFUSED), BOUNDS).records)
    seen = Seen()
    assert len(old) == 2 and comparing.compare(old, new, Noise(1e-3), seen) is None
    assert seen.counts["backwards"] == 12 and seen.counts["weights"] == 10
    assert len({str(one.of("backward")[0]["value"]) for one in old}) == 2, "each process has data of its own"
    assert len({one.of("step")[-1]["weights"] for one in old}) == 1, "and both have the same weights"
