"""From the words of the command line to a specification, each wrong word refused in one sentence."""

from __future__ import annotations

import re
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any

from .arms import ARMS, RECIPES
from .errors import UserError
from .profiles import profile
from .spec import Device, Spec
from .workloads.known import batch_of, known, takes_images

DEFAULT_DATA = Path("data")
"""Where CIFAR-10 is looked for, and put, if no folder is named."""
FAULTS = ("throttled", "shared")
"""What may be wrong with a timed window."""
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def specification(asked: Namespace, device: Device) -> Spec:
    """The specification that was asked for. Raises UserError."""
    name = asked.profile or ("standard" if device == "cuda" else "smoke")
    spec = profile(name, device)
    changes: dict[str, Any] = {
        "seeds": _count("--seeds", asked.seeds, least=0),
        "epochs": _count("--epochs", asked.epochs),
        "batch": _count("--batch", asked.batch),
        "blocks": _count("--blocks", asked.blocks),
        "processes": _count("--nproc", asked.nproc),
        "nodes": _count("--nnodes", asked.nnodes),
        "workload": asked.workload,
        "recipe": _choice("recipe", asked.recipe, RECIPES),
        "stem": asked.stem,
        "margin": _positive("--margin", asked.margin),
        "target_accuracy": _positive("--target", asked.target),
        "budget": _duration("--budget", asked.budget),
        "timeout": _duration("--timeout", asked.timeout),
        "sweep": _sweep(asked.sweep),
        "leave_out": _faults(asked.leave_out),
    }
    spec = replace(spec, **{key: value for key, value in changes.items() if value is not None})
    if asked.batch is None and name != "smoke":
        spec = replace(spec, batch=batch_of(spec.workload, spec.batch))
    if asked.arms:
        spec = _with_arms(spec, asked.arms)
    if spec.nodes > 1 and asked.engine != "slurm":
        raise UserError("--nnodes spreads a task over machines, which --engine slurm hands out.")
    if asked.train is not None:
        spec = _with_trained(spec, asked.train)
    its = known(spec.workload)
    if its is not None and (why := its.cannot.get(spec.recipe)):
        raise UserError(f"{its.name} cannot be trained with the recipe {spec.recipe}: {why}.")
    if (its is not None and not its.images) or spec.recipe == "gradient-penalty":
        # Random data has no accuracy; the penalty is there for its speed.
        spec = replace(spec, trained=())
    return replace(spec, data=_data(asked.data, spec))


def _with_trained(spec: Spec, words: str) -> Spec:
    """The arms that are trained for accuracy; `none` trains nothing."""
    names = () if words.strip() == "none" else _names(words)
    if absent := [name for name in names if name not in spec.arms]:
        raise UserError(
            f"--train takes arms of this session ({', '.join(spec.arms)}) or none, not {', '.join(absent)}: name them "
            "in --arms too."
        )
    return replace(spec, trained=names, trained_again=tuple(arm for arm in spec.trained_again if arm in names))


def _names(words: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.strip() for word in words.split(",") if word.strip()))


def _with_arms(spec: Spec, words: str) -> Spec:
    names = _names(words)
    if not names or set(names) - set(ARMS):
        listed = "".join(f"\n  {arm.name:<28}{arm.title}" for arm in ARMS.values())
        wrong = ", ".join(sorted(set(names) - set(ARMS) - {"help"}))
        raise UserError((f"There is no arm {wrong}; these are there:" if wrong else "These arms are there:") + listed)
    return replace(
        spec,
        arms=names,
        # Where none of the profile's is among them, those that were named are what the question is about.
        trained=tuple(arm for arm in spec.trained if arm in names) or names,
        repeated=tuple(arm for arm in spec.repeated if arm in names),
        trained_again=tuple(arm for arm in spec.trained_again if arm in names),
    )


def _data(named: str | None, spec: Spec) -> str:
    """The source of the data, as an absolute path."""
    if not takes_images(spec.workload) and named is None:
        return "synthetic"
    if spec.profile == "smoke" and named is None:
        # As many images as the few steps use, so that nothing is waited for.
        return "synthetic:64,16"
    if named is None:
        return str(DEFAULT_DATA.absolute())
    return named if named.startswith("synthetic") else str(Path(named).expanduser().absolute())


def _sweep(words: str | None) -> tuple[int, ...] | None:
    if words is None:
        return None
    if words == "none":
        return ()
    try:
        sizes = tuple(dict.fromkeys(int(word) for word in words.split(",")))
    except ValueError:
        sizes = (0,)
    if min(sizes) < 1:
        raise UserError(f"--sweep takes batch sizes such as 32,256,1024, not {words!r}.")
    return sizes


def _faults(words: str | None) -> tuple[str, ...] | None:
    if words is None:
        return None
    found = tuple(dict.fromkeys(word.strip() for word in words.split(",")))
    if set(found) - set(FAULTS):
        raise UserError(f"--leave-out takes {' or '.join(FAULTS)}, or both with a comma, not {words!r}.")
    return found


def gpus(words: str | None, spec: Spec) -> tuple[str, ...]:
    """The GPUs that trainings are spread over, as CUDA_VISIBLE_DEVICES names them. Raises UserError."""
    if words is None:
        return ()
    named = tuple(word.strip() for word in words.split(","))
    if not all(re.fullmatch(r"\d+|(GPU|MIG)-[\w-]+", one) for one in named) or len(set(named)) < len(named):
        raise UserError(f"--gpus takes different numbers of GPUs such as 0,1,2,3, not {words!r}.")
    if spec.device != "cuda":
        raise UserError("--gpus spreads trainings over GPUs, and there is none here.")
    if spec.processes > 1:
        raise UserError("--gpus runs one training a GPU, and --nproc one over several: choose one of them.")
    return named


def _count(option: str, value: int | None, least: int = 1) -> int | None:
    if value is not None and value < least:
        raise UserError(f"{option} takes a whole number of at least {least}, not {value}.")
    return value


def _positive(option: str, value: float | None) -> float | None:
    if value is not None and not 0 < value <= 100:
        raise UserError(f"{option} takes a number above 0 and up to 100, not {value}.")
    return value


def _choice(what: str, name: str | None, known: dict[str, Any]) -> str | None:
    if name is not None and name not in known:
        raise UserError(f"There is no {what} {name!r}: choose one of {', '.join(known)}.")
    return name


def _duration(option: str, words: str | None) -> float | None:
    """Seconds of `90s`, `25m`, `1.5h` or a bare number of seconds."""
    if words is None:
        return None
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", words.strip())
    if match is None or not float(match[1]):
        raise UserError(f"{option} takes a time such as 90s, 25m or 2h, not {words!r}.")
    return float(match[1]) * _UNITS.get(match[2], 1.0)
