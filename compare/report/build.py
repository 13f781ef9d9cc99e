"""Builds the report of a session from what was recorded, anywhere, without a GPU."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from ..analyse import analyse
from ..errors import UserError
from ..figures import PLATES, Plate, reading, render
from ..records import Session, read_session
from ..results import Results
from . import events, results_json
from .page import Drawn, page
from .render import to_html, to_markdown

MANIFEST = "SHA256SUMS"
_STAGE = ".report.new"
_CSS_PIXELS_PER_INCH = 96


def build(folder: Path, *, tensorboard: bool = True) -> Results:
    """Write results.json, report.html, report.md, figures/, tensorboard/ and SHA256SUMS into a session's folder.

    Everything is made before the first file is replaced: if that fails, the old report is still there.
    Raises UserError if the folder holds no session or the report cannot be written.
    """
    session = _read(folder)
    results = analyse(session)
    files = report_files(results)
    if tensorboard:
        files |= _events(results, session)
    files[MANIFEST] = _manifest(folder, files)
    _write(folder, files)
    return results


def _manifest(folder: Path, files: Mapping[str, bytes]) -> bytes:
    """Digests of what was recorded and of results.json, as `sha256sum --check` reads them."""
    names = ("session.jsonl", "runs/*.jsonl", "machine/*.jsonl")
    recorded = sorted(path for name in names for path in folder.glob(name))
    digests = {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()) for path in recorded}
    digests["results.json"] = hashlib.sha256(files["results.json"])
    return _bytes("".join(f"{digest.hexdigest()}  {name}\n" for name, digest in digests.items()))


def report_files(results: Results) -> dict[str, bytes]:
    """The files of the report by their path in its folder. Equal results give equal bytes."""
    drawn = {plate.name: _draw(plate, results) for plate in PLATES}
    files: dict[str, bytes] = {}
    for one in drawn.values():
        if one.png is not None and one.svg is not None:
            files |= {f"figures/{one.name}.png": one.png, f"figures/{one.name}.svg": one.svg}
    content = page(results, drawn)
    files["results.json"] = _bytes(results_json.render(results))
    files["report.md"] = _bytes(to_markdown(content))
    files["report.html"] = _bytes(to_html(content))
    return files


def _bytes(text: str) -> bytes:
    """The text in UTF-8; what is no text (a path's bytes in another encoding) is escaped."""
    return text.encode("utf-8", "backslashreplace")


def _read(folder: Path) -> Session:
    try:
        return read_session(folder)
    except OSError as error:
        raise UserError(f"{folder} cannot be read ({error.strerror or error}).") from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        # A file of another make may parse and still lack what a session has.
        said = str(error)
        raise UserError(
            said if said.startswith(str(folder)) else f"{folder} holds no session that can be read ({said})."
        ) from error


def _draw(plate: Plate, results: Results) -> Drawn:
    figure = plate.draw(results)
    if figure is None:
        return Drawn(plate.name, plate.title, "", "", None, None, plate.nothing(results))
    width, height = (round(inches * _CSS_PIXELS_PER_INCH) for inches in figure.get_size_inches())
    png, svg = render(figure, "png"), render(figure, "svg")
    return Drawn(plate.name, plate.title, plate.alt(results), reading(plate, results), png, svg, "", width, height)


def _events(results: Results, session: Session) -> dict[str, bytes]:
    """The event files, or none and a line that says so."""
    try:
        return events.event_files(results, events.learning_rates(session))
    except ImportError as error:
        print(f"TensorBoard's event files are left out: {error}.", file=sys.stderr)
        return {}


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    """Put every file beside its target, then replace the targets one by one; drop what an older build left over."""
    stage = folder / _STAGE
    try:
        shutil.rmtree(stage, ignore_errors=True)  # of a build that was killed
        for name, content in files.items():
            path = stage / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        for name in files:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(stage / name, folder / name)
        _drop_stale(folder, files)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        why = (
            "the disk is full; free some space and build it again"
            if full
            else f"{error.strerror or error}; copy the folder to where you may write, and build it there"
        )
        raise UserError(f"The report in {folder} cannot be written: {why}.") from error
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _drop_stale(folder: Path, files: Mapping[str, bytes]) -> None:
    """Figures and event files of ours that this report no longer has."""
    ours = [folder / "figures" / f"{plate.name}.{kind}" for plate in PLATES for kind in ("png", "svg")]
    if any(name.startswith("tensorboard/") for name in files):
        ours += (folder / "tensorboard").glob(f"*/*/{events.FILE}")
    for path in ours:
        if path.relative_to(folder).as_posix() not in files:
            path.unlink(missing_ok=True)
