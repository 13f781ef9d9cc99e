"""``initialize``, its options, and the state of the loss scalers."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from types import MethodType
from typing import Any

import torch
from apex import observe

from . import _process_optimizer
from ._amp_state import _amp_state, maybe_print, warn_or_err
from .handle import _is_one_optimizer, disable_casts
from .scaler import LossScaler

_LEVELS: dict[str, dict[str, Any]] = {
    "O0": {
        "cast_model_type": torch.float32,
        "patch_torch_functions": False,
        "keep_batchnorm_fp32": None,
        "master_weights": False,
        "loss_scale": 1.0,
    },
    "O1": {
        "cast_model_type": None,
        "patch_torch_functions": True,
        "keep_batchnorm_fp32": None,
        "master_weights": None,
        "loss_scale": "dynamic",
    },
    "O2": {
        "cast_model_type": torch.float16,
        "patch_torch_functions": False,
        "keep_batchnorm_fp32": True,
        "master_weights": True,
        "loss_scale": "dynamic",
    },
    "O3": {
        "cast_model_type": torch.float16,
        "patch_torch_functions": False,
        "keep_batchnorm_fp32": False,
        "master_weights": False,
        "loss_scale": 1.0,
    },
}


class Properties:
    """The options in force; a user's override is checked against the level."""

    enabled: bool
    opt_level: str | None
    cast_model_type: Any
    patch_torch_functions: bool
    keep_batchnorm_fp32: bool | None
    master_weights: bool | None
    loss_scale: float | str

    def __init__(self, level: str | None = None) -> None:
        self.enabled = level is not None
        self.opt_level = level
        for name, value in _LEVELS[level or "O0"].items():
            setattr(self, name, value)
        if level is None:
            self.cast_model_type = None
            self.master_weights = None

    def override(self, name: str, value: Any) -> None:
        """Take one option from the caller, or refuse it as Apex does."""
        level_one = self.opt_level == "O1"
        if name == "cast_model_type" and level_one and value is not False and value is not torch.float32:
            warn_or_err(f"O1 inserts casts around functions rather than model weights. cast_model_type was {value}")
        if name == "patch_torch_functions" and not level_one and value:
            warn_or_err("Currently, patch_torch_functions=True should only be set by selecting opt_level='O1'.")
        if name == "keep_batchnorm_fp32":
            if level_one:
                warn_or_err(f"With opt_level O1, keep_batchnorm_fp32 should be None. keep_batchnorm_fp32 was {value}")
            value = {"True": True, "False": False}.get(value, value) if isinstance(value, str) else value
            assert value is True or value is False, (
                "keep_batchnorm_fp32 must be a boolean, the string 'True' or 'False', "
                f"or None, found keep_batchnorm_fp32={value}"
            )
        if name == "master_weights" and level_one:
            warn_or_err("It doesn't make sense to use master_weights with O1.")
        if name == "loss_scale" and value != "dynamic":
            value = float(value)
        setattr(self, name, value)


def initialize(
    models: Any,
    optimizers: Any = None,
    enabled: bool = True,
    opt_level: str = "O1",
    cast_model_type: Any = None,
    patch_torch_functions: bool | None = None,
    keep_batchnorm_fp32: bool | str | None = None,
    master_weights: bool | None = None,
    loss_scale: float | str | None = None,
    cast_model_outputs: Any = None,
    num_losses: int = 1,
    verbosity: int = 1,
    min_loss_scale: float | None = None,
    max_loss_scale: float = 2.0**24,
) -> Any:
    """Prepare models and optimizers in place, and return them in the shape they came in."""
    _amp_state.opt_properties = Properties()
    _amp_state.verbosity = verbosity
    if not enabled:
        return models if optimizers is None else (models, optimizers)
    if not torch.backends.cudnn.enabled:
        raise RuntimeError("Amp requires torch.backends.cudnn.enabled = True")
    if opt_level not in _LEVELS:
        raise RuntimeError(
            f"Unexpected optimization level {opt_level}. Options are 'O0', 'O1', 'O2', 'O3'.  "
            "Note that in `O0`, `O1`, etc., the prefix O is the letter O, not the number zero."
        )
    properties = _amp_state.opt_properties = Properties(opt_level)
    maybe_print(f"Selected optimization level {opt_level}", True)
    _amp_state.min_loss_scale = min_loss_scale
    _amp_state.max_loss_scale = max_loss_scale
    overrides = {
        "cast_model_type": cast_model_type,
        "patch_torch_functions": patch_torch_functions,
        "keep_batchnorm_fp32": keep_batchnorm_fp32,
        "master_weights": master_weights,
        "loss_scale": loss_scale,
    }
    for name, value in overrides.items():
        if value is not None:
            properties.override(name, value)
    return _initialize(models, optimizers, properties, num_losses)


def _initialize(models: Any, optimizers: Any, properties: Properties, num_losses: int) -> Any:
    many_optimizers = isinstance(optimizers, list)
    if _is_one_optimizer(optimizers):
        optimizers = [optimizers]
    elif optimizers is None:
        optimizers = []
    elif not many_optimizers:
        raise TypeError("optimizers must be either a single optimizer or a list of optimizers.")
    many_models = isinstance(models, list)
    if isinstance(models, torch.nn.Module):
        models = [models]
    elif not many_models:
        raise TypeError("models must be either a single model or a list of models.")

    _check_models(models)
    if properties.cast_model_type:
        if properties.cast_model_type in (torch.float16, torch.bfloat16):
            observe.cast_models.update(models)
            _process_optimizer.note_half(_cast_params(models, bool(properties.keep_batchnorm_fp32)))
        for optimizer in optimizers:
            optimizer.load_state_dict(optimizer.state_dict())
    for optimizer in optimizers:
        _process_optimizer.process(optimizer, bool(properties.master_weights))
    _amp_state.loss_scalers = [
        LossScaler(
            properties.loss_scale,
            min_loss_scale=_amp_state.min_loss_scale,
            max_loss_scale=_amp_state.max_loss_scale,
        )
        for _ in range(num_losses)
    ]
    if properties.patch_torch_functions:
        from .amp import init

        init(loss_scale=properties.loss_scale, verbose=_amp_state.verbosity == 2)
        for optimizer in optimizers:
            _step_without_casts(optimizer)

    back = models if many_models else models[0]
    if many_optimizers:
        return back, optimizers
    return (back, optimizers[0]) if optimizers else back


def _check_models(models: list[torch.nn.Module]) -> None:
    # Looked up here and not at import: a harness may have put stand-ins there.
    wrappers = (torch.nn.parallel.DistributedDataParallel, torch.nn.DataParallel)
    for model in models:
        if isinstance(model, wrappers):
            raise RuntimeError(
                f"Incoming model is an instance of {type(model).__module__}.{type(model).__name__}. "
                "Parallel wrappers should only be applied to the model(s) AFTER \n"
                "the model(s) have been returned from amp.initialize."
            )
    if _amp_state.allow_incoming_model_not_fp32:
        return
    for model in models:
        for kind, found in (("param", model.named_parameters()), ("buffer", model.named_buffers())):
            for name, tensor in found:
                if tensor.dtype is torch.float16:
                    warn_or_err(f"Found {kind} {name} with type {tensor.type()}, expected torch.cuda.FloatTensor.")


def _cast_params(models: list[torch.nn.Module], keep_batchnorm: bool) -> Iterator[torch.Tensor]:
    """The parameters that Apex would turn into half precision."""
    for model in models:
        for module in model.modules():
            if keep_batchnorm and isinstance(module, torch.nn.modules.batchnorm._BatchNorm) and module.affine:
                continue
            for param in module.parameters(recurse=False):
                if param.is_floating_point():
                    yield param


def _step_without_casts(optimizer: Any) -> None:
    step = optimizer.step

    def new_step(self: Any, *args: Any, **kwargs: Any) -> Any:
        with disable_casts():
            return step(*args, **kwargs)

    optimizer.step = MethodType(new_step, optimizer)


def state_dict(destination: dict[str, Any] | None = None) -> dict[str, Any]:
    """Scale and counter of every loss scaler."""
    if destination is None:
        destination = OrderedDict()
    for index, scaler in enumerate(_amp_state.loss_scalers):
        destination[f"loss_scaler{index}"] = {
            "loss_scale": scaler.loss_scale(),
            "unskipped": scaler._unskipped,
        }
    return destination


def load_state_dict(state_dict: dict[str, Any]) -> None:
    """Set the scalers in the order of the keys; names only tell what is a scaler at all."""
    scalers = _amp_state.loss_scalers
    if len(state_dict) != len(scalers):
        observe.say(
            f"Warning: state_dict contains {len(state_dict)} entries, while {len(scalers)} loss_scalers are used"
        )
    unexpected = []
    index = 0
    for key, value in state_dict.items():
        if "loss_scaler" not in key:
            unexpected.append(key)
            continue
        if index >= len(scalers):
            observe.say(f"Skipping loss_scaler[{index}], since num_losses was set to {len(scalers)}")
            break
        scalers[index]._loss_scale = value["loss_scale"]
        scalers[index]._unskipped = value["unskipped"]
        index += 1
    if unexpected:
        names = ", ".join(f'"{key}"' for key in unexpected)
        raise RuntimeError(f"Error(s) in loading state_dict. Unexpected key(s) in state_dict: {names}. ")
