"""A place for texts between analysis and output, so that memory does not grow with the tree."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType

from .errors import UserError, reason

_IN_MEMORY = 8 * 1024 * 1024


@dataclass(frozen=True)
class Slot:
    """Where some bytes lie in a `Spool`."""

    start: int
    length: int


class Spool:
    """Bytes that are put away in a temporary file once they are many, and fetched again."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115  # closed by __exit__
        self._end = 0

    def put(self, data: bytes) -> Slot:
        try:
            self._file.seek(self._end)
            self._file.write(data)
            self._file.flush()
        except OSError as error:
            place = f" in {tempfile.tempdir}" if tempfile.tempdir else ""
            raise UserError(
                f"temporary files{place} cannot be written: {reason(error)}; nothing was written: make room there, or "
                "set TMPDIR to a folder with more."
            ) from error
        slot = Slot(self._end, len(data))
        self._end += len(data)
        return slot

    def get(self, slot: Slot) -> bytes:
        self._file.seek(slot.start)
        return self._file.read(slot.length)

    def __enter__(self) -> Spool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):  # what could not be written is not missed any more
            self._file.close()
