"""A test double of a CUDA device: every process that starts with it takes the comparison's CUDA branches on a CPU.

Devices are called `cuda` by whoever names them, tensors lie on the CPU. Streams are the CPU's own order; events are
as strict as CUDA's (not recorded, or not waited for: an error). Memory is what Python's tensors hold. Autocast to
CUDA is autocast on the CPU, so casts, GradScaler and overflows are real. torch.compile hands back what it is given,
and the profiler calls the CPU's operations kernels. ResNet50 is a network of a few weights, a matrix product of 4096
one of 64, and profiles are short (`SHORT`), or nobody could wait for it.

What it cannot show: cuDNN, real kernels and their memory, torch.compile, the profiler's own events, NCCL, speed.
"""

from __future__ import annotations

import functools
import gc
import time
import types
from dataclasses import replace
from typing import Any

SHORT = {"warmup": 3, "warmup_s": 0.2, "windows": 2, "window_steps": 4, "epoch_steps": 6}
BLOCKS = {"quick": 1, "standard": 3, "full": 3}
MOST_EPOCHS, MOST_SEEDS = 2, 3
UUID = "11111111-aaaa-bbbb-cccc-000000000000"
"""As `doubles.H100` has it."""
TOTAL = 80 * 2**30
CONTEXT = 500 * 2**20
"""What the driver is said to use beside torch."""


def start() -> None:
    """Spoils this process for a GPU."""
    import torch
    import torch.distributed
    import torch.utils.data

    anything: Any = torch
    _functions(anything)
    _memory(anything.cuda)
    _casts_and_compilers(anything)
    _profiler(anything)
    _small(anything)
    anything.backends.mkldnn.set_flags(False)  # its backward of a float16 convolution takes ten times as long
    _mode(anything).__enter__()


# ------------------------------------------------------------------ devices


def _is_cuda(value: Any) -> bool:
    kind = getattr(value, "type", None)
    return kind == "cuda" if isinstance(kind, str) else isinstance(value, str) and value.split(":")[0] == "cuda"


def _on_device(device: Any) -> None:
    """As torch.cuda refuses a device that is none of its own."""
    if device is not None and not _is_cuda(device) and device != 0:
        raise ValueError(f"Expected a cuda device, but got: {device}")


def _mode(torch: Any) -> Any:
    from torch.overrides import TorchFunctionMode

    cpu = torch.device("cpu")

    class CudaIsCpu(TorchFunctionMode):
        """Every function of torch that is told to use a CUDA device uses the CPU."""

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = dict(kwargs or {})
            if func in (torch.Tensor.cuda, torch.Tensor.pin_memory):
                return args[0]
            if func is torch.randn and _is_cuda(kwargs.get("device")):
                args = tuple(min(size, 64) for size in args)  # `estimate.rates`
            if func is torch.Tensor.to:
                args = tuple(cpu if _is_cuda(value) else value for value in args)
            if _is_cuda(kwargs.get("device")):
                kwargs["device"] = cpu
            return func(*args, **kwargs)

    return CudaIsCpu()


def _functions(torch: Any) -> None:
    cuda = torch.cuda
    properties = types.SimpleNamespace(
        name="NVIDIA H100 80GB HBM3", total_memory=TOTAL, major=9, minor=0, uuid=UUID, multi_processor_count=132
    )
    answers = {
        "is_available": True,
        "is_initialized": True,
        "is_bf16_supported": True,
        "is_current_stream_capturing": False,
        "device_count": 1,
        "current_device": 0,
        "get_device_properties": properties,
        "manual_seed_all": None,
        "manual_seed": None,
        "_lazy_init": None,
        "_lazy_call": None,
    }
    for name, answer in answers.items():
        setattr(cuda, name, lambda *args, answer=answer, **kwargs: answer)
    cuda.set_device = _on_device
    waited = [0.0]

    def synchronize(device: Any = None) -> None:
        _on_device(device)
        waited[0] = time.perf_counter()

    class Event:
        """A mark on the stream."""

        def __init__(self, enable_timing: bool = False) -> None:
            self._timing, self._at = enable_timing, None

        def record(self) -> None:
            self._at = time.perf_counter()

        def elapsed_time(self, other: Event) -> float:
            """Milliseconds."""
            if not (self._timing and other._timing) or self._at is None or other._at is None:
                raise ValueError("Both events must be recorded, with timing, before calculating elapsed time.")
            if max(self._at, other._at) > waited[0]:
                raise RuntimeError("CUDA error: device not ready")
            return 1e3 * (other._at - self._at)

    cuda.synchronize, cuda.Event = synchronize, Event
    cuda.IntTensor = lambda values: torch.tensor(values, dtype=torch.int32)
    load = torch.load

    @functools.wraps(load)
    def loaded(file: Any, map_location: Any = None, *args: Any, **options: Any) -> Any:
        return load(file, "cpu" if _is_cuda(map_location) else map_location, *args, **options)

    torch.load = loaded


def _memory(cuda: Any) -> None:
    import torch

    peak, reserved = [0], [0]

    def held(device: Any = None) -> int:
        """What all tensors of this process hold, those that Python knows."""
        _on_device(device)
        found = {}
        for one in gc.get_objects():
            if type(one) in (torch.Tensor, torch.nn.Parameter):
                storage = one.untyped_storage()
                found[storage.data_ptr()] = storage.nbytes()
        now = sum(found.values())
        peak[0] = max(peak[0], now)
        reserved[0] = max(reserved[0], peak[0] + 2**21)
        return now

    def most(device: Any = None) -> int:
        held(device)
        return peak[0]

    def most_reserved(device: Any = None) -> int:
        held(device)
        return reserved[0]

    def reset(device: Any = None) -> None:
        peak[0] = reserved[0] = 0
        held(device)

    cuda.memory_allocated, cuda.max_memory_allocated, cuda.max_memory_reserved = held, most, most_reserved
    cuda.reset_peak_memory_stats = reset
    cuda.mem_get_info = lambda device=None: (TOTAL - most_reserved(device) - CONTEXT, TOTAL)
    cuda.empty_cache = lambda: None


# ------------------------------------------------------------------ what computes


def _casts_and_compilers(torch: Any) -> None:
    real = torch.autocast

    class Autocast(real):  # type: ignore[misc, valid-type]
        """Autocast of the CPU, for either device."""

        def __init__(self, device_type: str, *args: Any, **options: Any) -> None:
            super().__init__("cpu" if device_type == "cuda" else device_type, *args, **options)

    torch.autocast = torch.amp.autocast = Autocast
    torch.compile = lambda model, *args, **options: model
    try:
        from apex.amp.scaler import LossScaler
    except ImportError:
        return
    LossScaler.has_fused_kernel = True


def _profiler(torch: Any) -> None:
    real = torch.profiler.profile

    class Profile(real):  # type: ignore[misc, valid-type]
        """The CPU's profiler, whose operations are called kernels."""

        def __init__(self, activities: Any) -> None:
            assert torch.profiler.ProfilerActivity.CUDA in activities
            super().__init__(activities=[torch.profiler.ProfilerActivity.CPU])

        def events(self) -> Any:
            found = super().events()
            for event in found:
                if event.name.startswith("aten::"):
                    event.device_type = torch.autograd.DeviceType.CUDA
            return found

    torch.profiler.profile = Profile


# ------------------------------------------------------------------ what is small


def _small(torch: Any) -> None:
    from torch import nn
    from torchvision import models

    class Few(nn.Module):
        """In place of ResNet50: its first convolution, and little behind it."""

        def __init__(self, num_classes: int, zero_init_residual: bool = False) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
            self.bn1, self.relu, self.maxpool = nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)
            self.layer1 = nn.Sequential(nn.AvgPool2d(4), nn.Conv2d(64, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU())
            self.avgpool, self.fc = nn.AdaptiveAvgPool2d(1), nn.Linear(16, num_classes)

        def forward(self, images: Any) -> Any:
            seen = self.layer1(self.maxpool(self.relu(self.bn1(self.conv1(images)))))
            return self.fc(self.avgpool(seen).flatten(1))

    models.resnet50 = Few
    try:
        from compare import profiles
    except ImportError:  # a process that is none of the comparison's
        return
    whole = profiles.profile

    @functools.wraps(whole)
    def shortened(name: str, device: Any) -> Any:
        spec = whole(name, device)
        if name == "smoke":
            return spec
        return replace(
            spec,
            **SHORT,
            batch=8,
            blocks=BLOCKS[name],
            seeds=min(spec.seeds, MOST_SEEDS),
            again=min(spec.again, MOST_SEEDS),
            after=min(spec.after, 1),
            epochs=min(spec.epochs, MOST_EPOCHS),
        )

    profiles.profile = shortened
