"""CUDA on a CPU: whatever a script asks of a GPU is done by the CPU, in float32.

``.cuda()``, ``device="cuda"`` and ``torch.cuda.*`` work; half precision becomes float32, so that scaling by powers of
two is exact and two runs can be compared to the last bit. Processes talk through gloo where they asked for NCCL.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import types
from collections.abc import Callable
from typing import Any

from . import batchnorm

_NUMBERS = {
    "is_available": True,
    "is_initialized": True,
    "is_bf16_supported": True,
    "is_current_stream_capturing": False,
    "_is_in_bad_fork": False,
    "device_count": 1,
    "current_device": 0,
    "get_device_name": "CPU",
    "get_device_capability": (8, 0),
    "get_device_properties": types.SimpleNamespace(
        name="CPU", total_memory=1 << 34, major=8, minor=0, multi_processor_count=1
    ),
    "get_rng_state_all": [],
    "memory_summary": "",
    "mem_get_info": (1 << 34, 1 << 34),
    "utilization": 0,
}
_ZEROS = (
    "max_memory_allocated max_memory_reserved memory_allocated memory_reserved max_memory_cached memory_cached"
).split()
_NOTHINGS = (
    "init _lazy_init set_device synchronize empty_cache manual_seed manual_seed_all seed seed_all "
    "reset_peak_memory_stats reset_max_memory_allocated set_rng_state set_rng_state_all ipc_collect "
    "set_per_process_memory_fraction"
).split()


class _Nothing:
    """A stream, an event, a profiler range: every attribute can be called, and does nothing."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __enter__(self) -> _Nothing:
        return self

    def __exit__(self, *exc: object) -> None:
        return None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return args[0] if len(args) == 1 and isinstance(args[0], types.FunctionType) else _Nothing()

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


def map_cuda_to_cpu(torch: Any) -> None:
    """Spoils this process for a GPU."""
    # Some parts of torch are imported at their first use, which is too late after the changes made here.
    for name in ("torch._dynamo", "torch.distributed", "torch.utils.checkpoint", "torch.utils.data"):
        importlib.import_module(name)
    _map_functions(torch)
    _map_modules(torch)
    _map_processes(torch)
    _map_loading(torch)
    mode = _mode(torch)
    mode.__enter__()


def _mode(torch: Any) -> Any:
    from torch.overrides import TorchFunctionMode

    cpu, half, single = torch.device("cpu"), torch.float16, torch.float32
    tensor = torch.Tensor

    def is_cuda(value: Any) -> bool:
        if isinstance(value, torch.device):
            return bool(value.type == "cuda")
        return isinstance(value, str) and (value == "cuda" or value.startswith("cuda:"))

    def mapped(value: Any) -> Any:
        if is_cuda(value):
            return cpu
        if value is half:
            return single
        if isinstance(value, str) and value.startswith("torch."):
            return value.replace(".cuda.", ".").replace("HalfTensor", "FloatTensor")
        return value

    class CudaIsCpu(TorchFunctionMode):
        """Every torch function that is told to use a CUDA device or half precision uses the CPU and float32."""

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func is tensor.cuda or func is tensor.pin_memory:
                return args[0]
            if func is tensor.half:
                return args[0].to(single, copy=args[0].is_floating_point())
            kwargs = dict(kwargs or {})
            if func is tensor.to:
                args = tuple(cpu if type(value) is int and at else mapped(value) for at, value in enumerate(args))
            elif func is tensor.type:
                args = tuple(map(mapped, args))
            for name in ("device", "dtype"):
                if name in kwargs:
                    value = kwargs[name]
                    kwargs[name] = cpu if name == "device" and type(value) is int else mapped(value)
            kwargs.pop("pin_memory", None)
            return func(*args, **kwargs)

    return CudaIsCpu()


def _map_functions(torch: Any) -> None:
    cuda = torch.cuda
    for name, value in _NUMBERS.items():
        setattr(cuda, name, _returns(value))
    for name in _ZEROS:
        setattr(cuda, name, _returns(0))
    for name in _NOTHINGS:
        setattr(cuda, name, _returns(None))
    cuda.get_rng_state = _returns(torch.zeros(1, dtype=torch.uint8))
    for name in ("Stream", "Event", "stream", "device", "current_stream", "default_stream", "CUDAGraph", "graph"):
        setattr(cuda, name, _Nothing)
    cuda.nvtx = _Nothing()
    for name in ("Float", "Double", "Half", "Long", "Int", "Short", "Byte", "Bool"):
        setattr(cuda, f"{name}Tensor", getattr(torch, f"{name.replace('Half', 'Float')}Tensor"))
    torch.HalfTensor = torch.FloatTensor
    torch.Tensor.record_stream = _returns(None)  # its stream is none of torch's here
    torch.set_default_device = torch.set_default_tensor_type = _returns(None)
    torch.compile = lambda model=None, **options: model if model is not None else (lambda function: function)

    real = torch.Generator

    class Generator(real):  # type: ignore[misc, valid-type]
        def __new__(cls, device: Any = "cpu") -> Any:
            return real.__new__(cls, "cpu" if str(device).startswith("cuda") else device)

    torch.Generator = Generator


def _map_modules(torch: Any) -> None:
    nn = torch.nn
    nn.Module.cuda = lambda self, device=None: self
    nn.Module.half = lambda self: self

    def data_parallel(self: Any, module: Any, *args: Any, **kwargs: Any) -> None:
        nn.Module.__init__(self)
        self.module, self.device_ids, self.dim, self.output_device = module, [], 0, None

    nn.DataParallel.__init__ = data_parallel
    distributed = nn.parallel.DistributedDataParallel
    make = distributed.__init__

    @functools.wraps(make)
    def init(self: Any, module: Any, device_ids: Any = None, output_device: Any = None, *args: Any, **kw: Any) -> None:
        make(self, module, None, None, *args, **kw)

    distributed.__init__ = init
    distributed._passing_sync_batchnorm_handle = lambda self, module: None
    batchnorm.over_processes(torch)


def _map_processes(torch: Any) -> None:
    dist = torch.distributed
    if not dist.is_available():
        return
    start = dist.init_process_group

    @functools.wraps(start)
    def init_process_group(backend: Any = None, *args: Any, **kwargs: Any) -> Any:
        kwargs.pop("device_id", None)
        made = start("gloo", *args, **kwargs)
        _keep_alive(dist.distributed_c10d._get_default_group())
        return made

    dist.init_process_group = dist.distributed_c10d.init_process_group = init_process_group
    more = dist.new_group

    @functools.wraps(more)
    def new_group(*args: Any, **kwargs: Any) -> Any:
        kwargs.pop("device_id", None)
        args = tuple("gloo" if isinstance(arg, str) else arg for arg in args)
        made = more(*args, **{name: "gloo" if name == "backend" else value for name, value in kwargs.items()})
        _keep_alive(made)
        return made

    dist.new_group = dist.distributed_c10d.new_group = new_group


def _keep_alive(group: Any) -> None:
    """Until the process ends: nobody waits for the threads of a group.

    What is left of a collective operation holds the modes that were on when it began, ours with them, and a thread of
    the group needs the interpreter to let go of them. Where the last that held the group is a DistributedDataParallel,
    torch (2.11) ends the group without letting the interpreter go, and waits for that thread for ever.
    """
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(group))


def _map_loading(torch: Any) -> None:
    load = torch.load

    @functools.wraps(load)
    def load_here(file: Any, map_location: Any = None, *args: Any, **options: Any) -> Any:
        return load(file, "cpu", *args, **options)

    torch.load = load_here
    loader = torch.utils.data.DataLoader
    make_loader = loader.__init__

    @functools.wraps(make_loader)
    def loader_init(self: Any, dataset: Any, *args: Any, **options: Any) -> None:
        for name in ("pin_memory", "pin_memory_device", "persistent_workers", "prefetch_factor", "timeout"):
            options.pop(name, None)
        options.pop("multiprocessing_context", None)
        if "num_workers" in options:
            options["num_workers"] = 0
        make_loader(self, dataset, *args, **options)

    loader.__init__ = loader_init
