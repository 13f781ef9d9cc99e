"""Runs one training script on the CPU, and records what it computed. A program of its own, never imported.

    python runner.py legacy|native|partly SCRIPT OUT.json [arguments of the script]
    python runner.py --serve            requests as JSON lines on stdin, each run in a fork of this process

``legacy``: ``import apex`` finds the CPU double. ``native``: ``import apex`` fails. ``partly``: a migration
that left some of Apex where it was; finds the double.
CUDA is mapped to the CPU in both: ``.cuda()``, ``device="cuda"`` and ``torch.cuda.*`` work and do nothing.
``torch.autocast("cuda")`` becomes a region that only records (it would silently disable itself without a
GPU); ``GradScaler("cuda")`` becomes the real one on the CPU. All arithmetic is float32, so that scaling by
powers of two is exact.

A request may ask for more than that:

``casts``     real casts. O1 casts as it does on a GPU (Apex's own Python code where ``APEX_SRC`` names its
              sources, else the double), autocast as on the CPU, with CUDA's list of float32 functions.
``overflow``  numbers of backwards (0 is the first) whose gradients all become infinite.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import importlib.abc
import io
import json
import os
import runpy
import signal
import sys
import threading
import traceback
import types
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
import torch._dynamo  # optimizers import it at their first use; too late after the changes made here
import torch.distributed
import torch.nn.functional as F
import torch.utils.checkpoint
import torch.utils.data
from torch.overrides import TorchFunctionMode

DOUBLE = Path(__file__).resolve().parents[2] / "migrate" / "verify" / "double"
SCALE_MARK = "loss_scale_of_this_node"
CPU = torch.device("cpu")

LOSSES = (
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cosine_embedding_loss",
    "cross_entropy",
    "ctc_loss",
    "gaussian_nll_loss",
    "hinge_embedding_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "margin_ranking_loss",
    "mse_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "poisson_nll_loss",
    "smooth_l1_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
)

BCE_IN_AUTOCAST = (
    "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast "
    "(raised by the test runner, as CUDA autocast raises it)"
)


class PerThread(threading.local):
    """Autocast regions and module calls are nested per thread, as in torch."""

    def __init__(self) -> None:
        self.regions: list[bool] = []
        self.casts: list[contextlib.ExitStack] = []  # what each region has really switched on
        self.in_module = False
        self.in_backward = False
        self.in_loss = False


class Recorder:
    """What happened, in order."""

    def __init__(self, legacy: bool, casts: bool = False, overflow: Sequence[int] = ()) -> None:
        self.legacy = legacy
        self.casts = casts
        self.overflow = frozenset(overflow)
        self.here = PerThread()
        self.optimizers: list[torch.optim.Optimizer] = []
        self.forwards: list[list[Any]] = []
        self.losses: list[list[Any]] = []
        self.backwards: list[list[Any]] = []
        self.steps: list[list[Any]] = []
        self.scalers: list[dict[str, Any]] = []
        self.regions = {"enabled": 0, "disabled": 0}
        self.messages: list[str] = []

    # -- casts

    def region(self) -> bool:
        """Whether an enabled autocast region surrounds us."""
        return bool(self.here.regions) and self.here.regions[-1]

    def casts_of(self, module: torch.nn.Module) -> bool:
        observe = sys.modules.get("apex.observe") if self.legacy else None
        return self.region() or (observe is not None and observe.casts(module))

    def casts_of_functions(self) -> bool | None:
        """As `casts_of` for a loss; None where O2 or O3 decides it outside of torch's functions."""
        observe = sys.modules.get("apex.observe") if self.legacy else None
        if self.region() or observe is None:
            return self.region()
        if observe.patched():
            return True
        return None if observe.cast_models else False

    # -- optimizers

    def index(self, optimizer: Any) -> int:
        optimizer = getattr(optimizer, "optim", optimizer)
        optimizer = getattr(optimizer, "optimizer", optimizer)
        for index, known in enumerate(self.optimizers):
            if known is optimizer:
                return index
        return -1

    def stepped(self, optimizer: Any, *_: Any) -> None:
        self.steps.append([self.index(optimizer), "step"])

    def skipped(self, optimizer: Any) -> None:
        self.steps.append([self.index(optimizer), "skip"])

    # -- scaling

    def mark(self, tensor: Any, scale: float) -> None:
        """Remember in the graph that this tensor is a loss times ``scale``."""
        if isinstance(tensor, torch.Tensor) and tensor.grad_fn is not None:
            node: Any = tensor.grad_fn
            node.metadata[SCALE_MARK] = scale

    def scale_below(self, roots: Sequence[Any]) -> float | None:
        """The scale that was multiplied into what is differentiated now, if any."""
        todo: list[Any] = [
            root.grad_fn for root in roots if isinstance(root, torch.Tensor) and root.grad_fn is not None
        ]
        seen = set(todo)
        while todo:
            node = todo.pop()
            if SCALE_MARK in node.metadata:
                scale: float = node.metadata[SCALE_MARK]
                return scale
            for below, _ in node.next_functions:
                if below is not None and below not in seen:
                    seen.add(below)
                    todo.append(below)
        return None

    def listen(self, event: str, data: dict[str, Any]) -> None:
        """Events of the double."""
        if event == "message":
            self.messages.append(data["text"])
        elif event == "scaled":
            self.mark(data["tensor"], data["scale"])
        elif event == "skip":
            self.skipped(data["optimizer"])

    def result(self) -> dict[str, Any]:
        return {
            "weights": [_weights(optimizer) for optimizer in self.optimizers],
            "values": [_values(optimizer) for optimizer in self.optimizers] if self.casts else [],
            "forwards": self.forwards,
            "losses": self.losses,
            "backwards": self.backwards,
            "steps": self.steps,
            "scalers": self.scalers,
            "regions": self.regions,
            "messages": self.messages,
        }


def _weights(optimizer: torch.optim.Optimizer) -> list[dict[str, Any]]:
    found = []
    for group in optimizer.param_groups:
        for param in group["params"]:
            value = param.detach().contiguous().cpu()
            found.append(
                {
                    "shape": list(value.shape),
                    "sha256": hashlib.sha256(
                        value.view(torch.uint8).numpy().tobytes()
                        if value.dim()
                        else value.reshape(1).view(torch.uint8).numpy().tobytes()
                    ).hexdigest(),
                    "head": [repr(float(one)) for one in value.flatten()[:4]],
                }
            )
    return found


def _values(optimizer: torch.optim.Optimizer) -> list[list[float]]:
    """All weights as numbers: real casts are compared with a tolerance."""
    return [
        [float(one) for one in param.detach().flatten()]
        for group in optimizer.param_groups
        for param in group["params"]
    ]


# ---------------------------------------------------------------- CUDA on a CPU


def _is_cuda(value: Any) -> bool:
    if isinstance(value, torch.device):
        return value.type == "cuda"
    return isinstance(value, str) and (value == "cuda" or value.startswith("cuda:"))


class CudaIsCpu(TorchFunctionMode):
    """Every torch function that is told to use a CUDA device uses the CPU."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        if func is torch.Tensor.cuda or func is torch.Tensor.pin_memory:
            return args[0]
        if func is torch.Tensor.type and any(isinstance(value, str) for value in args):
            args = tuple(value.replace(".cuda.", ".") if isinstance(value, str) else value for value in args)
        if func is torch.Tensor.to:
            args = tuple(
                CPU if _is_cuda(value) or (type(value) is int and at) else value for at, value in enumerate(args)
            )
        device = kwargs.get("device")
        if _is_cuda(device) or type(device) is int:
            kwargs["device"] = CPU
        kwargs.pop("pin_memory", None)
        return func(*args, **kwargs)


class _Nothing:
    """A stream, an event, a profiler range: every attribute can be called, and does nothing."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __enter__(self) -> _Nothing:
        return self

    def __exit__(self, *exc: object) -> None:
        return None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _Nothing()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Nothing()

    def elapsed_time(self, other: Any) -> float:
        return 0.0


def _returns(value: Any) -> Callable[..., Any]:
    def function(*args: Any, **kwargs: Any) -> Any:
        return value

    return function


class _Wrapper(torch.nn.Module):
    """One process and one device: hands everything on."""

    def __init__(self, module: torch.nn.Module, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self.module = module

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        yield


class DataParallel(_Wrapper):
    pass


class DistributedDataParallel(_Wrapper):
    pass


def map_cuda_to_cpu() -> None:
    cuda: Any = torch.cuda
    numbers = {
        "is_available": True,
        "is_initialized": True,
        "is_bf16_supported": True,
        "is_current_stream_capturing": False,
        "_is_in_bad_fork": False,
        "device_count": 1,
        "current_device": 0,
        "get_device_name": "CPU",
        "get_device_capability": (7, 0),
        "get_device_properties": types.SimpleNamespace(name="CPU", total_memory=1, major=7, minor=0),
        "get_rng_state": torch.zeros(1, dtype=torch.uint8),
        "get_rng_state_all": [],
        "memory_summary": "",
    }
    for name, value in numbers.items():
        setattr(cuda, name, _returns(value))
    for name in (
        "max_memory_allocated",
        "max_memory_reserved",
        "memory_allocated",
        "memory_reserved",
        "max_memory_cached",
        "memory_cached",
    ):
        setattr(cuda, name, _returns(0))
    for name in (
        "init",
        "_lazy_init",
        "set_device",
        "synchronize",
        "empty_cache",
        "manual_seed",
        "manual_seed_all",
        "seed",
        "seed_all",
        "reset_peak_memory_stats",
        "reset_max_memory_allocated",
        "set_rng_state",
        "set_rng_state_all",
        "ipc_collect",
    ):
        setattr(cuda, name, _returns(None))
    for name in ("Stream", "Event", "stream", "device", "current_stream", "default_stream"):
        setattr(cuda, name, _Nothing)
    cuda.nvtx = _Nothing()
    for name in ("Float", "Double", "Half", "Long", "Int", "Short", "Byte", "Bool"):
        setattr(cuda, f"{name}Tensor", getattr(torch, f"{name}Tensor"))

    nn: Any = torch.nn
    nn.Module.cuda = lambda self, device=None: self
    nn.DataParallel = nn.parallel.DataParallel = DataParallel
    nn.parallel.DistributedDataParallel = DistributedDataParallel
    nn.SyncBatchNorm.convert_sync_batchnorm = staticmethod(lambda module, process_group=None: module)

    dist: Any = torch.distributed
    for name, value in {
        "is_initialized": True,
        "get_rank": 0,
        "get_world_size": 1,
        "init_process_group": None,
        "destroy_process_group": None,
        "barrier": None,
        "all_reduce": None,
        "broadcast": None,
        "reduce": None,
        "new_group": None,
    }.items():
        setattr(dist, name, _returns(value))

    anything: Any = torch
    anything.set_default_device = anything.set_default_tensor_type = _returns(None)
    anything.compile = lambda model=None, **options: model if model is not None else (lambda function: function)
    load = torch.load
    anything.load = lambda file, map_location=None, **options: load(file, map_location="cpu", **options)

    loader: Any = torch.utils.data.DataLoader
    make_loader = loader.__init__

    @functools.wraps(make_loader)
    def loader_init(self: Any, dataset: Any, *args: Any, **options: Any) -> None:
        for name in ("pin_memory", "persistent_workers", "prefetch_factor", "multiprocessing_context"):
            options.pop(name, None)
        if "num_workers" in options:
            options["num_workers"] = 0
        make_loader(self, dataset, *args, **options)

    loader.__init__ = loader_init
    mode: Any = CudaIsCpu()
    mode.__enter__()


# ---------------------------------------------------------------- recording


class CudaFloat32(TorchFunctionMode):
    """The functions that autocast computes in float32 on CUDA, and leaves in half on the CPU."""

    NAMES = frozenset(
        "__pow__ __rpow__ acos asin cdist cosh cumprod cumsum dist erfinv exp expm1 group_norm layer_norm log log10 "
        "log1p log2 log_softmax logsumexp norm pdist pow prod reciprocal renorm rsqrt sinh softmax softplus sum "
        "tan".split()
    )

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if getattr(func, "__name__", "") in self.NAMES:
            args = tuple(_in_float32(value) for value in args)
            kwargs = {name: _in_float32(value) for name, value in kwargs.items()}
        return func(*args, **kwargs)


def _in_float32(value: Any) -> Any:
    half = isinstance(value, torch.Tensor) and value.dtype in (torch.float16, torch.bfloat16)
    return value.float() if half else value


def record_autocast(recorder: Recorder) -> None:
    """A region that only records takes the place of ``torch.autocast`` for CUDA."""
    real = torch.amp.autocast_mode.autocast

    class autocast:
        def __new__(cls, device_type: str = "cuda", *args: Any, **kwargs: Any) -> Any:
            if cls is autocast and str(device_type) != "cuda":
                return real(device_type, *args, **kwargs)
            return super().__new__(cls)

        def __init__(
            self,
            device_type: str = "cuda",
            dtype: torch.dtype | None = None,
            enabled: bool = True,
            cache_enabled: bool | None = None,
        ) -> None:
            if not isinstance(device_type, str):
                raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
            self.device = device_type
            self.fast_dtype = dtype or torch.float16
            self._enabled = bool(enabled)

        def __enter__(self) -> Any:
            recorder.regions["enabled" if self._enabled else "disabled"] += 1
            recorder.here.regions.append(self._enabled)
            casts = contextlib.ExitStack()
            if recorder.casts:
                casts.enter_context(real("cpu", dtype=self.fast_dtype, enabled=self._enabled))
                if self._enabled:
                    casts.enter_context(CudaFloat32())
            recorder.here.casts.append(casts)
            return self

        def __exit__(self, *exc: object) -> None:
            recorder.here.casts.pop().close()
            recorder.here.regions.pop()

        def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(function)
            def inside(*args: Any, **kwargs: Any) -> Any:
                with self:
                    return function(*args, **kwargs)

            return inside

    class cuda_autocast(autocast):
        def __init__(
            self, enabled: bool = True, dtype: torch.dtype = torch.float16, cache_enabled: bool = True
        ) -> None:
            super().__init__("cuda", dtype, enabled, cache_enabled)

    anything: Any = torch
    anything.autocast = anything.amp.autocast = anything.amp.autocast_mode.autocast = autocast
    anything.cuda.amp.autocast = anything.cuda.amp.autocast_mode.autocast = cuda_autocast
    asked = torch.is_autocast_enabled
    anything.is_autocast_enabled = lambda device_type="cuda": (
        recorder.region() if device_type == "cuda" else asked(device_type)
    )
    anything.get_autocast_gpu_dtype = _returns(torch.float16)
    if recorder.casts:
        # Its decorators cast tensors of the device they are told, and here that is the CPU.
        custom_fwd, custom_bwd = anything.amp.custom_fwd, anything.amp.custom_bwd
        anything.amp.custom_fwd = lambda fwd=None, *, device_type, **options: custom_fwd(
            fwd, device_type="cpu", **options
        )
        anything.amp.custom_bwd = lambda bwd=None, *, device_type: custom_bwd(bwd, device_type="cpu")


def record_scaler(recorder: Recorder) -> None:
    """The real GradScaler, on the CPU whatever device it is made for."""
    real = torch.amp.grad_scaler.GradScaler

    class GradScaler(real):  # type: ignore[misc, valid-type]
        def __init__(self, device: str = "cuda", *args: Any, **kwargs: Any) -> None:
            super().__init__("cpu", *args, **kwargs)
            self.on_record = {
                "enabled": self._enabled,
                "init_scale": self._init_scale if self._enabled else None,
            }
            recorder.scalers.append(self.on_record)

        def scale(self, outputs: Any) -> Any:
            scaled = super().scale(outputs)
            if self._enabled:
                for one in scaled if isinstance(scaled, (list, tuple)) else [scaled]:
                    recorder.mark(one, self.get_scale())
            return scaled

        def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            before = len(recorder.steps)
            result = super().step(optimizer, *args, **kwargs)
            if len(recorder.steps) == before:
                recorder.skipped(optimizer)
            return result

        def update(self, *args: Any, **kwargs: Any) -> None:
            super().update(*args, **kwargs)
            self.on_record["updates"] = self.on_record.get("updates", 0) + 1
            self.on_record["scale"] = self.get_scale()

    class CudaGradScaler(GradScaler):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__("cuda", *args, **kwargs)

    anything: Any = torch
    anything.amp.GradScaler = anything.amp.grad_scaler.GradScaler = GradScaler
    anything.cuda.amp.GradScaler = anything.cuda.amp.grad_scaler.GradScaler = CudaGradScaler


def record_calls(recorder: Recorder) -> None:
    """Forwards, losses, backwards and steps."""
    here = recorder.here
    call = torch.nn.Module.__call__

    @functools.wraps(call)
    def module_call(self: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
        if here.in_module or next(self.parameters(), None) is None:
            return call(self, *args, **kwargs)
        recorder.forwards.append([type(self).__name__, recorder.casts_of(self), torch.is_grad_enabled()])
        here.in_module = True
        try:
            return call(self, *args, **kwargs)
        finally:
            here.in_module = False

    module: Any = torch.nn.Module
    module.__call__ = module_call

    anything: Any = torch
    backward = torch.autograd.backward

    @functools.wraps(backward)
    def recorded_backward(tensors: Any, *args: Any, **kwargs: Any) -> None:
        if here.in_backward:
            return backward(tensors, *args, **kwargs)
        roots = tensors if isinstance(tensors, (list, tuple)) else [tensors]
        if len(recorder.backwards) in recorder.overflow:
            tensors = [root * float("inf") for root in roots]
        recorder.backwards.append([recorder.region(), recorder.scale_below(roots)])
        here.in_backward = True
        try:
            return backward(tensors, *args, **kwargs)
        finally:
            here.in_backward = False

    def tensor_backward(
        self: torch.Tensor,
        gradient: Any = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        recorded_backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    anything.autograd.backward = recorded_backward
    anything.Tensor.backward = tensor_backward

    functional: Any = F
    for name in LOSSES:
        setattr(functional, name, _recorded_loss(recorder, name, getattr(F, name)))

    optimizer: Any = torch.optim.Optimizer
    make = optimizer.__init__

    @functools.wraps(make)
    def optimizer_init(self: Any, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **kwargs)
        recorder.optimizers.append(self)
        self.register_step_post_hook(recorder.stepped)

    optimizer.__init__ = optimizer_init


def _recorded_loss(recorder: Recorder, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    here = recorder.here

    @functools.wraps(function)
    def loss(*args: Any, **kwargs: Any) -> Any:
        if name == "binary_cross_entropy" and recorder.region():
            raise RuntimeError(BCE_IN_AUTOCAST)
        if here.in_loss or here.in_module:
            return function(*args, **kwargs)
        recorder.losses.append([name, recorder.casts_of_functions(), torch.is_grad_enabled()])
        here.in_loss = True
        try:
            return function(*args, **kwargs)
        finally:
            here.in_loss = False

    return loss


class NoApex(importlib.abc.MetaPathFinder):
    """``import apex`` fails, but for the parts that a script may keep."""

    def __init__(self, leaves: Sequence[str]) -> None:
        self.leaves = leaves

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> None:
        if fullname.partition(".")[0] != "apex":
            return
        if self.leaves and fullname in ("apex", "apex.observe"):
            return
        if any(fullname == leaf or fullname.startswith(leaf + ".") for leaf in self.leaves):
            return
        raise ModuleNotFoundError(f"No module named {fullname!r} (there is no Apex in a native run)", name=fullname)


# ---------------------------------------------------------------- running


def find_apex(mode: str, recorder: Recorder, leaves: Sequence[str]) -> None:
    """What ``import apex`` finds: the double, Apex itself, or nothing."""
    if mode == "native":
        sys.meta_path.insert(0, NoApex(leaves))
    source = os.environ.get("APEX_SRC") if recorder.casts and mode != "native" else None
    if mode != "native" or leaves:
        sys.path.insert(0, source or str(DOUBLE))
    if mode == "native":
        return
    if source:
        observe: Any = importlib.import_module("real_apex").install()
    else:
        observe = importlib.import_module("apex.observe")
        observe.real_casts = recorder.casts
    observe.listener = recorder.listen


def run(
    mode: str,
    script: str,
    argv: Sequence[str],
    leaves: Sequence[str] = (),
    casts: bool = False,
    overflow: Sequence[int] = (),
) -> dict[str, Any]:
    """Run ``script`` in this process, which is spoilt for anything else afterwards."""
    recorder = Recorder(mode != "native", casts, overflow)
    map_cuda_to_cpu()
    record_autocast(recorder)
    record_scaler(recorder)
    record_calls(recorder)
    find_apex(mode, recorder, leaves)
    sys.argv = [script, *argv]
    sys.path.insert(0, os.path.dirname(script))
    out = io.StringIO()
    error: str | None = None
    code: Any = 0
    with contextlib.redirect_stdout(out):
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit as stop:
            code = stop.code or 0
        except BaseException:
            error = traceback.format_exc()
    return {"stdout": out.getvalue().splitlines(), "error": error, "exit": code, **recorder.result()}


def _prepare() -> None:
    torch.set_num_threads(1)


def _write(path: str, result: dict[str, Any]) -> None:
    Path(path).write_text(json.dumps(result), encoding="utf-8")


def _serve() -> None:
    """One JSON request a line: cwd, out, timeout and the arguments of `run`. Answers with wait status."""
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            _child(request)
        _, status = os.waitpid(child, 0)
        print(status, flush=True)


def _child(request: dict[str, Any]) -> None:
    out = request["out"]
    try:
        signal.alarm(request.pop("timeout"))
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nowhere, descriptor)
        os.chdir(request.pop("cwd"))
        del request["out"]
        _write(out, run(**request))
    except BaseException:
        Path(out).write_text(json.dumps({"error": traceback.format_exc()}), encoding="utf-8")
        os._exit(3)
    os._exit(0)


def main() -> None:
    _prepare()
    if sys.argv[1:] == ["--serve"]:
        _serve()
        return
    mode, script, out, *argv = sys.argv[1:]
    result = run(mode, os.path.abspath(script), argv)
    _write(out, result)
    if result["error"]:
        sys.stderr.write(result["error"])
        sys.exit(1)


if __name__ == "__main__":
    main()
