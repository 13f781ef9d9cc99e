"""Several processes: real gloo where the script asks for NCCL; each process beside its counterpart."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from migrate.verify.running import RECORDER
from tests.effort import long
from tests.verify.test_command import verify

SPAWNED = """\
import socket
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
from apex import amp
from torch.nn.parallel import DistributedDataParallel


def worker(gpu, port):
    dist.init_process_group("nccl", init_method=f"tcp://127.0.0.1:{port}", world_size=2, rank=gpu)
    torch.cuda.set_device(gpu)
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3)).cuda(gpu)
    opt = torch.optim.AdamW(net.parameters(), 1e-2)
    net, opt = amp.initialize(net, opt, opt_level="O1")
    net = DistributedDataParallel(net, device_ids=[gpu])
    made = torch.Generator().manual_seed(gpu)
    data = torch.utils.data.TensorDataset(
        torch.randn(24, 6, generator=made), torch.randint(0, 3, (24,), generator=made)
    )
    sampler = torch.utils.data.distributed.DistributedSampler(data)
    for x, y in torch.utils.data.DataLoader(data, 4, sampler=sampler, num_workers=1, pin_memory=True):
        loss = nn.functional.cross_entropy(net(x.cuda(gpu, non_blocking=True)), y.cuda(gpu))
        opt.zero_grad()
        with amp.scale_loss(loss, opt) as scaled_loss:
            scaled_loss.backward()
        opt.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    mp.spawn(worker, nprocs=2, args=(port,))
"""


@long
def test_spawned_processes_are_compared_rank_by_rank(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "train.py").write_text(SPAWNED)
    kept = tmp_path / "kept"
    done = verify("--json", "--keep", str(kept), "--", sys.executable, "train.py", cwd=tmp_path / "tree")
    assert done.returncode == 0, done.stdout + done.stderr
    said = json.loads(done.stdout)
    assert said["verdict"] == "equal"
    assert said["compared"]["backwards"] == 6  # three of each
    losses = [
        [json.loads(line)["value"] for line in path.read_text().splitlines() if '"e": "backward"' in line]
        for path in (kept / "records" / "old").glob("*.jsonl")
    ]
    first, second = [one for one in losses if one]
    assert first != second, "each rank has data of its own"


ENDED = """\
import gc
import os
import sys

import torch
from apex2native_recorder import cpu

cpu.map_cuda_to_cpu(torch)
dist = torch.distributed


def threads():
    return len(os.listdir("/proc/self/task"))


before = threads()
dist.init_process_group("nccl", init_method="file://" + sys.argv[1], world_size=1, rank=0)
groups = [dist.new_group([0], backend="nccl"), dist.new_group([0], None, "nccl")]
net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2))
net(torch.ones(1, 2)).sum().backward()
during = threads()
dist.destroy_process_group()
del net, groups
gc.collect()
print(during > before, threads() == during)
"""


def test_nothing_waits_for_the_threads_of_a_group(tmp_path: Path) -> None:
    """They would be waited for by a thread that keeps the interpreter, which they need to end: a run hung at times."""
    done = subprocess.run(
        [sys.executable, "-c", ENDED, str(tmp_path / "store")],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(RECORDER)},
    )
    assert done.stdout.split() == ["True", "True"], done.stdout + done.stderr
