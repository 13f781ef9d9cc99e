"""Records what a training script does, from inside its processes: steps, losses, gradients, loss scale, casts.

`start` is called before the script. Nothing happens until the script imports torch.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import random
import sys
import traceback
from typing import Any

from . import importing
from .record import Recorder


def start(settings_file: str) -> None:
    """``settings_file`` is the JSON that the parent process wrote (migrate/verify/running.py)."""
    with open(settings_file, encoding="utf-8") as stream:
        settings = json.load(stream)
    recorder = Recorder(settings)
    _seed_python(settings["seed"])
    if settings["side"] == "new":
        importing.refuse(settings["refused"])
    importing.after("numpy", lambda numpy: _seed_numpy(numpy, settings["seed"]))
    importing.after("torch", lambda torch: _listen(torch, recorder))


def _listen(torch: Any, recorder: Recorder) -> None:
    # What cannot be listened to is told to the parent, and the script does not run unheard.
    try:
        _install(torch, recorder)
    except Exception as error:
        recorder.problem(f"{type(error).__name__}: {error}", traceback.format_exc())
        sys.stderr.write(traceback.format_exc())
        sys.stderr.flush()
        os._exit(3)


def _install(torch: Any, recorder: Recorder) -> None:
    from . import calls, casting, cpu, ending, scaling

    settings = recorder.settings
    if settings["device"] is None:
        settings["device"] = "cuda" if _has_gpu_and_apex(torch) else "cpu"
    on_cpu = settings["device"] == "cpu"
    if on_cpu:
        cpu.map_cuda_to_cpu(torch)
        casting.stand_in(torch, recorder)
        sys.path.insert(0, settings["double"])
        torch.set_num_threads(1)
    torch.manual_seed(settings["seed"])
    torch.seed = torch.random.seed = lambda: torch.manual_seed(settings["seed"]).initial_seed()
    apex = "double" if on_cpu else "real"
    ending.tell_the_start(torch, recorder, apex)
    scaling.record(torch, recorder)
    calls.record(torch, recorder)
    ending.record(recorder)
    if settings["side"] == "old" or settings["keeps_apex"]:
        scaling.record_apex(recorder, double=on_cpu)
    with contextlib.suppress(Exception):
        torch.backends.cudnn.benchmark = False


def _seed_python(seed: int) -> None:
    """What asks for a seed of the moment gets ours, here and in the two that follow."""
    real: Any = random.seed
    random.seed = lambda a=None, version=2: real(seed if a is None else a, version)
    random.seed()


def _seed_numpy(numpy: Any, seed: int) -> None:
    real, generator = numpy.random.seed, numpy.random.default_rng
    numpy.random.seed = lambda a=None: real(seed if a is None else a)
    numpy.random.default_rng = lambda a=None: generator(seed if a is None else a)
    real(seed)


def _has_gpu_and_apex(torch: Any) -> bool:
    if not torch.cuda.is_available():
        return False
    try:
        importlib.import_module("amp_C")  # built with its kernels: its slow Python code scales otherwise
        importlib.import_module("apex.amp")
    except Exception:
        return False
    return True
