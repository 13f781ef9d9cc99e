"""A place for texts between analysis and output, so that memory does not grow with the tree."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from types import TracebackType

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
        self._file.seek(self._end)
        self._file.write(data)
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
        self._file.close()
