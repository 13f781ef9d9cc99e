"""A walk through a checkpoint: what is known is converted in place, everything else stays the object that it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

from . import halves, optimizers, scaling, shapes
from .steps import Options, Step

_DEEP = 50  # containers in containers


def convert(checkpoint: Any, options: Options) -> tuple[Any, list[Step]]:
    """The converted checkpoint (the same object, unless it is an entry itself), and what was done."""
    steps: list[Step] = []
    masters = list(halves.all_masters(_found(checkpoint))) if options.float32 else []
    holder = {"": checkpoint}
    _walk(holder, "", "ckpt", options, masters, steps, 0, {})
    if options.strip and not any(step.what.startswith("the prefix ") for step in steps):
        steps.append(Step("ckpt", f"no model's names all begin with {options.strip}", converted=False))
    return holder[""], steps


def _found(value: Any, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    if depth > _DEEP:
        return
    if shapes.is_fp16_optimizer(value) or shapes.is_contrib_optimizer(value):
        yield value
        return
    for one in value.values() if isinstance(value, Mapping) else value if isinstance(value, (list, tuple)) else ():
        yield from _found(one, depth + 1)


def _walk(
    parent: Any,
    key: Any,
    path: str,
    options: Options,
    masters: list[Any],
    steps: list[Step],
    depth: int,
    seen: dict[int, tuple[Any, Any]],
) -> None:
    """``seen``: each container and what became of it, as the same one may be saved under several names."""
    value = parent[key]
    if depth > _DEEP or not isinstance(value, (Mapping, list, tuple)):
        return
    if id(value) in seen:
        new = seen[id(value)][1]
        if new is not value:
            parent[key] = new
        return
    seen[id(value)] = value, value
    if _entry(parent, key, value, path, options, masters, steps):
        seen[id(value)] = value, parent[key]
        return
    if isinstance(value, MutableMapping):
        for name in list(value):
            _walk(value, name, f"{path}[{name!r}]", options, masters, steps, depth + 1, seen)
    elif isinstance(value, list):
        for at in range(len(value)):
            _walk(value, at, f"{path}[{at}]", options, masters, steps, depth + 1, seen)
    elif type(value) is tuple:
        changed = list(value)
        for at in range(len(changed)):
            _walk(changed, at, f"{path}[{at}]", options, masters, steps, depth + 1, seen)
        if any(new is not old for new, old in zip(changed, value, strict=True)):
            parent[key] = tuple(changed)
            seen[id(value)] = value, parent[key]


def _entry(
    parent: Any, key: Any, value: Any, path: str, options: Options, masters: list[Any], steps: list[Step]
) -> bool:
    """Convert one entry; whether it was one."""
    if options.strip and _has_prefix(value, options.strip):
        _strip(value, options.strip)
        steps.append(Step(path, f"the prefix {options.strip} of {len(value)} names is gone"))
    if options.to_apex:
        return _to_apex(parent, key, value, path, options, steps)
    if shapes.is_amp(value):
        parent[key], said = scaling.to_native(value, options)
        steps.append(Step(path, said))
    elif shapes.is_fp16_optimizer(value) or shapes.is_contrib_optimizer(value):
        _fp16(parent, key, value, path, options, steps)
    elif shapes.is_fused_adam(value):
        steps.append(Step(path, optimizers.adam_to_native(value)))
    elif shapes.is_fused_adagrad(value):
        steps.append(Step(path, optimizers.adagrad_to_native(value)))
    elif shapes.is_novograd(value):
        why = "FusedNovoGrad keeps its norms in the groups, which has no counterpart: train it up anew"
        steps.append(Step(path, why, converted=False))
    elif shapes.is_lamb(value):
        why = "FusedLAMB's state loads as it is into the class that is written out for it"
        steps.append(Step(path, why, converted=False))
    elif options.float32 and halves.weights_of(value):
        steps.append(Step(path, halves.to_float32(value, masters)))
    else:
        return False
    return True


def _fp16(parent: Any, key: Any, value: Any, path: str, options: Options, steps: list[Step]) -> None:
    inner = value["optimizer_state_dict"]
    if shapes.is_fused_adam(inner):
        steps.append(Step(f"{path}['optimizer_state_dict']", optimizers.adam_to_native(inner)))
    if options.float32:
        state = halves.scale_of(value)
        parent[key] = inner
        said = "FP16_Optimizer's state becomes that of the optimizer inside"
        if isinstance(parent, MutableMapping) and options.scaler_key not in parent and key != "":
            parent[options.scaler_key] = state
            said += f", and its loss scale {state['scale']:g} a GradScaler's state under {options.scaler_key!r}"
        steps.append(Step(path, said))
    elif shapes.is_fp16_optimizer(value):
        parent[key], said = halves.fp16_to_written(value)
        steps.append(Step(path, said))
    else:
        why = "contrib's FP16_Optimizer loads as it is into the class that is written out for it"
        steps.append(Step(path, why, converted=False))


def _to_apex(parent: Any, key: Any, value: Any, path: str, options: Options, steps: list[Step]) -> bool:
    if shapes.is_scaler(value):
        parent[key], said = scaling.to_apex(value, options)
        steps.append(Step(path, said))
    elif shapes.is_torch_adam(value):
        try:
            steps.append(Step(path, optimizers.adam_to_apex(value)))
        except optimizers.Unlike as why:
            steps.append(Step(path, f"torch's Adam stays: {why}", converted=False))
    else:
        return False
    return True


def _has_prefix(value: Any, prefix: str) -> bool:
    return (
        isinstance(value, MutableMapping)
        and bool(value)
        and all(isinstance(name, str) and name.startswith(prefix) for name in value)
    )


def _strip(value: MutableMapping[str, Any], prefix: str) -> None:
    """In place, in the same order; what torch keeps beside the names (`_metadata`) goes along."""
    entries = [(name[len(prefix) :], one) for name, one in value.items()]
    value.clear()
    value.update(entries)
    metadata = getattr(value, "_metadata", None)
    if isinstance(metadata, MutableMapping):
        kept = [
            (name[len(prefix) :] if name.startswith(prefix) else name, one)
            for name, one in metadata.items()
            if name != prefix.rstrip(".")
        ]
        top = metadata.get(prefix.rstrip("."))
        metadata.clear()
        metadata.update(kept)
        if top is not None:
            metadata[""] = top
