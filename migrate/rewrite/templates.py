"""The native code that is written, in the file's own words for torch and for the version asked for."""

from __future__ import annotations

import ast

from ..facts.files import File
from ..facts.module import Module
from ..model import Settings


class Templates:
    """Texts of native AMP for one file. `needs_import` tells afterwards whether torch has to be imported there."""

    def __init__(self, m: Module, file: File, settings: Settings) -> None:
        self.settings = settings
        self.needs_import = False
        self._torch = _alias(m, file)

    @property
    def torch(self) -> str:
        """What the module calls torch; it gets an import where it calls it nothing."""
        if self._torch is None:
            self.needs_import = True
            return "torch"
        return self._torch

    def autocast(self, enabled: str) -> str:
        """``torch.autocast("cuda", dtype=torch.float16, enabled=…)``; always on where ``enabled`` is empty."""
        more = f", enabled={enabled}" if enabled else ""
        if self.settings.target_torch < (1, 10):
            return f"{self.torch}.cuda.amp.autocast({more[2:]})"
        device = self.settings.device_type
        return f'{self.torch}.autocast("{device}", dtype={self.torch}.{self.settings.dtype}{more})'

    def no_autocast(self) -> str:
        """A region in which autocast is off."""
        if self.settings.target_torch < (1, 10):
            return f"{self.torch}.cuda.amp.autocast(enabled=False)"
        return f'{self.torch}.autocast("{self.settings.device_type}", enabled=False)'

    def scaler(self, *arguments: str) -> str:
        """``torch.amp.GradScaler("cuda", …)``."""
        if self.settings.target_torch < (2, 3):
            return f"{self.torch}.cuda.amp.GradScaler({', '.join(arguments)})"
        return (
            f"{self.torch}.amp.GradScaler({', '.join((f'{chr(34)}{self.settings.device_type}{chr(34)}', *arguments))})"
        )

    def custom_forward(self, dtype: str, function: str = "") -> str:
        """The decorator that casts a function's inputs and leaves autocast, or its call on ``function``."""
        first = f"{function}, " if function else ""
        if self.settings.target_torch < (2, 4):
            return f"{self.torch}.cuda.amp.custom_fwd({first}cast_inputs={self.torch}.{dtype})"
        device = f'device_type="{self.settings.device_type}"'
        return f"{self.torch}.amp.custom_fwd({first}{device}, cast_inputs={self.torch}.{dtype})"

    def custom_fwd(self) -> str:
        """The decorator by which a function's forward tells its backward whether autocast was on."""
        return self._custom("custom_fwd")

    def custom_bwd(self) -> str:
        """The decorator of the backward that goes with it."""
        return self._custom("custom_bwd")

    def _custom(self, name: str) -> str:
        if self.settings.target_torch < (2, 4):
            return f"{self.torch}.cuda.amp.{name}"
        return f'{self.torch}.amp.{name}(device_type="{self.settings.device_type}")'


def _alias(m: Module, file: File) -> str | None:
    """The name that a module-level import gives torch, in each run that reads the file."""
    found: str | None = None
    for node in m.own(file.scope, ast.Import):
        if m.scope(node) is file.scope and not _at_times(m, node):
            for alias in node.names:
                if alias.name == "torch" and alias.asname:
                    found = found or alias.asname
                elif alias.name.split(".")[0] == "torch" and not alias.asname:
                    return "torch"
    return found


def _at_times(m: Module, node: ast.Import) -> bool:
    """Whether an import runs where types are checked, or the file is a script, and not for who imports it."""
    asked = (m.src(one.test) for one in m.ancestors(node) if isinstance(one, ast.If))
    return any("TYPE_CHECKING" in test or "__name__" in test for test in asked)
