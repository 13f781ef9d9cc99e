"""The switches of torch that change speed and numbers: set, read back, and held against what an arm demands.

A baseline is only one where its switches hold for the whole of the measurement, whatever a workload or the environment
does.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .arms import ARMS
from .errors import UserError

if TYPE_CHECKING:
    from types import ModuleType

VARIABLES = (
    "CUDA_VISIBLE_DEVICES",
    "CUDA_DEVICE_ORDER",
    "CUDA_LAUNCH_BLOCKING",
    "CUDA_MODULE_LOADING",
    "NVIDIA_TF32_OVERRIDE",
    "PYTORCH_ALLOC_CONF",
    "PYTORCH_CUDA_ALLOC_CONF",
    "OMP_NUM_THREADS",
    "CUBLAS_WORKSPACE_CONFIG",
    "TORCHINDUCTOR_MAX_AUTOTUNE",
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
    "CUDA_DEVICE_MAX_CONNECTIONS",
    "TORCH_BLAS_PREFER_CUBLASLT",
    "TORCH_CUDNN_V8_API_DISABLED",
    "DISABLE_ADDMM_CUDA_LT",
    "TORCHINDUCTOR_FORCE_DISABLE_CACHES",
    "MKL_NUM_THREADS",
    "OMP_WAIT_POLICY",
    "NCCL_P2P_DISABLE",
    "NCCL_ALGO",
    "NCCL_PROTO",
)
"""Variables of the environment that change speed, memory or numbers: they are recorded."""

_OFF = ("", "0", "false", "no", "off")
# What makes a measured time say nothing about a training, and why.
_MISLEADING = {
    "CUDA_LAUNCH_BLOCKING": "the host then waits for every kernel",
    "PYTORCH_NO_CUDA_MEMORY_CACHING": "every tensor is then allocated anew by the driver",
    "CUDA_INJECTION64_PATH": "a profiler or sanitizer is then loaded into every process",
    "NVTX_INJECTION64_PATH": "a profiler is then loaded into every process",
    "NSYS_PROFILING_SESSION_ID": "Nsight Systems is then recording",
    "COMPUTE_PROFILE": "the driver's profiler is then on",
    "TORCH_CUDA_SANITIZER": "every access to memory is then checked",
    "CUDNN_LOGLEVEL_DBG": "cuDNN then writes a log",
    "CUDNN_LOGINFO_DBG": "cuDNN then writes a log",
    "CUBLAS_LOGINFO_DBG": "cuBLAS then writes a log",
    "TORCHDYNAMO_DISABLE": "nothing is then compiled",
    "TORCH_COMPILE_DISABLE": "nothing is then compiled",
    "TORCH_SHOW_DISPATCH_TRACE": "every operation is then printed",
    "PYTHONDEVMODE": "Python then checks what it does",
    "PYTHONTRACEMALLOC": "Python then traces every allocation",
}
_NEWER = (
    ("fp32_precision", lambda torch: torch.backends.fp32_precision),
    ("cuda_matmul_fp32_precision", lambda torch: torch.backends.cuda.matmul.fp32_precision),
    ("cudnn_fp32_precision", lambda torch: torch.backends.cudnn.fp32_precision),
    ("cudnn_conv_fp32_precision", lambda torch: torch.backends.cudnn.conv.fp32_precision),
    ("cudnn_rnn_fp32_precision", lambda torch: torch.backends.cudnn.rnn.fp32_precision),
)
"""Names that torch 2.9 brought beside the older ones."""
_LATER = (
    ("allow_fp16_accumulation", lambda torch: bool(torch.backends.cuda.matmul.allow_fp16_accumulation)),
    ("cudnn_benchmark_limit", lambda torch: torch.backends.cudnn.benchmark_limit),
    ("flash_attention", lambda torch: torch.backends.cuda.flash_sdp_enabled()),
    ("memory_efficient_attention", lambda torch: torch.backends.cuda.mem_efficient_sdp_enabled()),
    ("math_attention", lambda torch: torch.backends.cuda.math_sdp_enabled()),
    ("cudnn_attention", lambda torch: torch.backends.cuda.cudnn_sdp_enabled()),
)
"""Switches that not every torch has. All arms run with them as torch sets them; a workload that changes one is said
like any other."""


def set_flags(*, tf32: bool, benchmark: bool = True) -> dict[str, Any]:
    """Set every switch that changes speed or numbers, and return what torch reports afterwards.

    Uses torch's older names (`allow_tf32`) throughout: torch 2.9 brought `fp32_precision` beside them and
    refuses to read the one after the other was set, and torch.compile still reads the older ones.
    """
    torch = _torch()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*TF32.*")  # torch 2.9 advises its newer names
        torch.backends.cuda.matmul.allow_tf32 = tf32
        torch.backends.cudnn.allow_tf32 = tf32
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = True
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = True
    torch.backends.cudnn.enabled = True
    torch.backends.cudnn.benchmark = benchmark
    torch.backends.cudnn.deterministic = False
    if torch.are_deterministic_algorithms_enabled():  # asked first: to switch them off takes all of inductor
        torch.use_deterministic_algorithms(False)
    return flags()


def flags() -> dict[str, Any]:
    """The switches as torch reports them, and the variable that overrides them.

    One that torch refuses to read, as its older and its newer names were mixed, is `mixed`.
    """
    torch = _torch()
    matmul = torch.backends.cuda.matmul
    read: dict[str, Callable[[], Any]] = {
        "cuda_matmul_allow_tf32": lambda: bool(torch.backends.cuda.matmul.allow_tf32),
        "cudnn_allow_tf32": lambda: bool(torch.backends.cudnn.allow_tf32),
        "matmul_fp32_precision": torch.get_float32_matmul_precision,
        "allow_fp16_reduced_precision_reduction": lambda: bool(matmul.allow_fp16_reduced_precision_reduction),
        "allow_bf16_reduced_precision_reduction": lambda: bool(matmul.allow_bf16_reduced_precision_reduction),
        "cudnn_enabled": lambda: torch.backends.cudnn.enabled,
        "cudnn_benchmark": lambda: torch.backends.cudnn.benchmark,
        "cudnn_deterministic": lambda: torch.backends.cudnn.deterministic,
        "deterministic_algorithms": torch.are_deterministic_algorithms_enabled,
        "anomaly_mode": torch.is_anomaly_enabled,
        "nvidia_tf32_override": lambda: os.environ.get("NVIDIA_TF32_OVERRIDE"),
    }
    read |= {name: lambda get=get: get(torch) for name, get in (*_NEWER, *_LATER) if _has(torch, get)}  # type: ignore[misc]
    return {name: _read(get) for name, get in read.items()}


def enforce(tf32: bool, demanded: Mapping[str, Any], when: str) -> None:
    """Raise UserError, in one sentence, where a switch is not what the arm demands.

    `demanded` is what `set_flags` returned; `tf32` whether the arm is the one with TF32.
    """
    found = flags()
    wrong = {name: found[name] for name in demanded if found[name] != demanded[name]}
    # What torch read back may itself be wrong: another word had been set, or a library overrides it.
    if found["cuda_matmul_allow_tf32"] is not tf32 or found["cudnn_allow_tf32"] is not tf32:
        wrong |= {name: found[name] for name in ("cuda_matmul_allow_tf32", "cudnn_allow_tf32")}
    if not tf32:
        wrong |= {name: found[name] for name, _ in _NEWER if found.get(name) in ("tf32", "bf16", "mixed")}
    if found["anomaly_mode"]:
        wrong["anomaly_mode"] = True
    if wrong:
        told = ", ".join(f"{name} is {value}" for name, value in wrong.items())
        demands = "with" if tf32 else "without"
        raise UserError(
            f"The switches of torch are not those of this arm ({demands} TF32) {when}: {told}. The workload or the "
            "environment sets them; leave them to the comparison."
        )
    if _torch().cuda.is_available() and (override := tf32_override([tf32])):
        raise UserError(override)


def refuse_misleading(arms: Iterable[str]) -> None:
    """Raise UserError, in one sentence, for variables under which no time means anything or an arm is not what it
    says."""
    for name, why in _MISLEADING.items():
        if os.environ.get(name, "").strip().lower() not in _OFF:
            raise UserError(f"{name}={os.environ[name]} is set: {why}, and no time means anything; unset it.")
    loaded = os.environ.get("LD_PRELOAD", "")
    if any(word in loaded.lower() for word in ("asan", "tsan", "sanitizer", "nsys", "cupti", "injection")):
        raise UserError(f"LD_PRELOAD={loaded} loads a sanitizer or profiler: no time means anything; unset it.")
    if override := tf32_override([ARMS[arm].tf32 for arm in arms]):
        raise UserError(override)


def tf32_override(wanted: Iterable[bool] = (True, False)) -> str | None:
    """The sentence for `NVIDIA_TF32_OVERRIDE`, which NVIDIA's libraries obey before torch, and for torch's own
    override.

    None where they are not set, or do what is wanted: whether an arm has TF32.
    """
    wanted = set(wanted)
    for name in ("NVIDIA_TF32_OVERRIDE", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE"):
        value = os.environ.get(name)
        if value in ("0", "1") and wanted - {value == "1"}:
            effect = "no arm uses TF32, tf32 included" if value == "0" else "every float32 arm uses TF32, fp32 included"
            return f"{name}={value} overrides torch: {effect}; unset it."
    return None


def _read(get: Callable[[], Any]) -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*TF32.*")
        try:
            return get()
        except RuntimeError:
            return "mixed"


def _has(torch: ModuleType, get: Callable[[Any], Any]) -> bool:
    try:
        get(torch)
    except AttributeError:
        return False
    except RuntimeError:
        pass
    return True


def _torch() -> ModuleType:
    try:
        import torch
    except ImportError as error:
        raise UserError(f"torch does not import ({error}): install the extra [compare].") from None
    return torch
