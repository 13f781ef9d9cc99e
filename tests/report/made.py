"""A repository with what reports have to bear: line ends, encodings, names, hostile text."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

LEGACY = """\
import torch
from apex import amp


def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O2")
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
"""
BY_HAND = "from apex.RNN import LSTM\n\nnet = LSTM(1, 2)\n"
IGNORED = LEGACY.replace('opt_level="O2")', 'opt_level="O2")  # apex2native: ignore')

HOSTILE = "<img src=x onerror=alert(1)> ::error::x `@nobody` | %0A, \u202e"
HOSTILE_CODE = LEGACY.replace(
    "        optimizer.step()\n",
    f'        optimizer.step()  # {HOSTILE}\n        print("</script><script>alert(2)</script>")\n',
)

FILES = {
    "plain.py": LEGACY.encode(),
    "crlf.py": LEGACY.replace("\n", "\r\n").encode(),
    "no_newline.py": LEGACY.rstrip("\n").encode(),
    "latin.py": ("# -*- coding: latin-1 -*-\n# caf\xe9\n" + LEGACY).encode("latin-1"),
    "mark.py": b"\xef\xbb\xbf" + LEGACY.encode(),
    "sub/with space.py": LEGACY.encode(),
    "sub/\u00fcber'quote\".py": LEGACY.encode(),
    "sub/line\nend,colon:%.py": LEGACY.encode(),
    "sub/<b>bold@nobody`tick|bar.py": HOSTILE_CODE.encode(),
    "hand.py": BY_HAND.encode(),
    "ignored.py": IGNORED.encode(),
}


def repository(place: Path) -> Path:
    """The files in a git repository, committed."""
    for name, data in FILES.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    git(place, "init", "-q")
    git(place, "add", "-A")
    git(place, "-c", "user.email=a@b.c", "-c", "user.name=n", "commit", "-q", "-m", "legacy")
    return place


def git(place: Path, *words: str, given: bytes = b"") -> bytes:
    return subprocess.run(
        ["git", "-c", "core.autocrlf=false", *words], cwd=place, input=given, capture_output=True, check=True
    ).stdout


def tool(*words: str, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    done = subprocess.run(
        [sys.executable, "-m", "migrate", *words], cwd=cwd, env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True, check=False,
    )  # fmt: skip
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    return done
