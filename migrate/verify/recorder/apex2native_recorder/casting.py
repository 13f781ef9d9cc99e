"""Which type autocast computes in, and a region for the CPU that only records it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .record import Recorder


def short(dtype: Any) -> str:
    """``float16`` of ``torch.float16``."""
    return str(dtype).rpartition(".")[2]


def now(torch: Any, recorder: Recorder) -> str:
    """The type that autocast computes in here, "" outside of a region."""
    if recorder.settings["device"] == "cpu":
        return recorder.region()
    return short(torch.get_autocast_gpu_dtype()) if torch.is_autocast_enabled() else ""


def stand_in(torch: Any, recorder: Recorder) -> None:
    """A region that only records takes the place of ``torch.autocast`` for CUDA, which a CPU would switch off."""
    real = torch.amp.autocast_mode.autocast

    class autocast:
        def __new__(cls, device_type: str = "cuda", *args: Any, **kwargs: Any) -> Any:
            if cls is autocast and str(device_type) != "cuda":
                return real(device_type, *args, **kwargs)
            return super().__new__(cls)

        def __init__(
            self, device_type: str = "cuda", dtype: Any = None, enabled: bool = True, cache_enabled: Any = None
        ) -> None:
            if not isinstance(device_type, str):
                raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
            self.device = device_type
            self.fast_dtype = dtype or torch.float16
            self._enabled = bool(enabled)

        def __enter__(self) -> Any:
            recorder.here.regions.append(short(self.fast_dtype) if self._enabled else "")
            return self

        def __exit__(self, *exc: object) -> None:
            recorder.here.regions.pop()

        def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(function)
            def inside(*args: Any, **kwargs: Any) -> Any:
                with self:
                    return function(*args, **kwargs)

            return inside

    class cuda_autocast(autocast):
        def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True) -> None:
            super().__init__("cuda", dtype, enabled, cache_enabled)

    torch.autocast = torch.amp.autocast = torch.amp.autocast_mode.autocast = autocast
    torch.cuda.amp.autocast = torch.cuda.amp.autocast_mode.autocast = cuda_autocast
    asked = torch.is_autocast_enabled

    def is_enabled(device_type: str = "cuda") -> bool:
        return bool(recorder.region()) if device_type == "cuda" else asked(device_type)

    torch.is_autocast_enabled = is_enabled
    torch.get_autocast_gpu_dtype = lambda: torch.float16
