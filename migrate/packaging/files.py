"""Which files beside the Python code are looked at, by their names alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """What a file is, and with that who reads it."""

    REQUIREMENTS = "a list for pip, a requirement a line"
    SETUP_PY = "setup.py"
    SETUP_CFG = "setup.cfg"
    TOML = "pyproject.toml or Pipfile"
    YAML = "YAML: an environment of conda, a CI file, a configuration"
    DOCKER = "a Dockerfile"
    SUBMODULES = ".gitmodules"
    SHELL = "commands"
    CONFIG = "settings: JSON, TOML, INI"
    DOCS = "words for people"
    DATA = "text that is mostly data: only what is unmistakable counts"


@dataclass(frozen=True)
class Beside:
    """A file beside the code: the name the report prints and the place it lies at."""

    shown: str
    location: str


_NAMES = {
    "setup.py": Kind.SETUP_PY,
    "setup.cfg": Kind.SETUP_CFG,
    "pyproject.toml": Kind.TOML,
    "pipfile": Kind.TOML,
    ".gitmodules": Kind.SUBMODULES,
    "makefile": Kind.SHELL,
    "gnumakefile": Kind.SHELL,
    "justfile": Kind.SHELL,
    "jenkinsfile": Kind.SHELL,
    "containerfile": Kind.DOCKER,
    "readme": Kind.DOCS,
    "install": Kind.DOCS,
}
_SUFFIXES = {
    **dict.fromkeys(("sh", "bash", "zsh", "slurm", "sbatch", "pbs", "lsf", "mk", "def"), Kind.SHELL),
    **dict.fromkeys(("yml", "yaml"), Kind.YAML),
    **dict.fromkeys(("toml", "ini", "cfg", "conf", "json", "jsonnet"), Kind.CONFIG),
    **dict.fromkeys(("md", "mdx", "rst"), Kind.DOCS),
    **dict.fromkeys(("txt",), Kind.DATA),
    **dict.fromkeys(("dockerfile",), Kind.DOCKER),
}
_REQUIREMENTS = re.compile(
    r"(?:.*[-_.])?(?:requirements?|reqs|constraints?|dependencies)(?:[-_.\d].*)?\.(?:txt|in|pip)"
)
_REQUIREMENTS_FOLDER = re.compile(r"(?:.*[-_.])?(?:requirements?|reqs)")
_DOCS_TEXT = re.compile(r"(?:read_?me|install|installation|usage|getting_?started|faq|notes?|todo)(?:[-_.].*)?\.txt")
_HISTORY = re.compile(r"(?:change_?logs?|history|news|changes|release_?notes?|releases)(?:[-_.].*)?")
_LOCKS = frozenset({"package.json", "package-lock.json", "composer.json", "tsconfig.json"})
_COMMANDS = ("install-", "install_", "setup-", "setup_", "build-", "build_")  # scripts without a suffix
_MOST_DATA = 100  # files of one folder; where more lie together they are data

_QUICK = (*(f".{suffix}" for suffix in _SUFFIXES), ".in", ".pip")


def kind(path: str) -> Kind | None:
    """What the file at a path is by its name; None for what is not looked at."""
    folder, _, name = path.replace("\\", "/").lower().rpartition("/")
    if name in _NAMES:
        return _NAMES[name]
    if name.startswith(("dockerfile", "singularity")):
        return Kind.DOCKER if name.startswith("dockerfile") else Kind.SHELL
    if "." not in name:
        return Kind.SHELL if name.startswith(_COMMANDS) else None
    if not name.endswith(_QUICK) or name in _LOCKS or _HISTORY.fullmatch(name):
        return None
    if _REQUIREMENTS.fullmatch(name):
        return Kind.REQUIREMENTS
    suffix = name.rpartition(".")[2]
    if suffix in ("txt", "in", "pip"):
        if _REQUIREMENTS_FOLDER.fullmatch(folder.rpartition("/")[2]):
            return Kind.REQUIREMENTS
        if suffix == "txt" and _DOCS_TEXT.fullmatch(name):
            return Kind.DOCS
    return _SUFFIXES.get(suffix)


def chosen(folder: str, names: Sequence[str]) -> list[str]:
    """Those of the files of one folder that are looked at; JSON and text are not where they are a heap of data."""
    picked = [name for name in names if kind(f"{folder}/{name}") is not None]
    heaped = {suffix for suffix in (".json", ".txt") if sum(name.endswith(suffix) for name in picked) > _MOST_DATA}
    return [name for name in picked if not any(map(name.endswith, heaped))] if heaped else picked


def bulky(path: str) -> bool:
    """Whether a large file of this name is data rather than something that people wrote."""
    return path.endswith((".json", ".txt"))
