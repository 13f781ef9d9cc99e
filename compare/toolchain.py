"""What compiling CUDA extensions for this torch needs, found and checked without compiling anything.

Every check returns one sentence that says what is missing and what to do, or None.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import sysconfig
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from .nvidia import run_command

# setuptools builds wheels by itself from this version on.
_SETUPTOOLS_WITH_WHEEL = 70.1
_BUILD_PACKAGES = ("setuptools", "wheel", "packaging", "numpy", "ninja")
_PIP = (23, 1)  # takes --config-settings with the same key twice
HEADERS = ("cuda_runtime.h", "cublas_v2.h", "cusparse.h", "cusolverDn.h")  # what torch's own headers include


@dataclass(frozen=True)
class Toolkit:
    """A CUDA toolkit: the folder that holds `bin/nvcc`, and what nvcc says of itself."""

    home: Path
    version: str
    """`13.0`, say."""
    arches: tuple[str, ...]
    """Architectures it compiles for, oldest first, as `90`; empty where this nvcc cannot say."""

    @property
    def nvcc(self) -> Path:
        return self.home / "bin" / "nvcc"


def find_toolkit(cuda: str | None) -> Toolkit | str:
    """The toolkit to build with, or the sentence why there is none.

    `CUDA_HOME` (or `CUDA_PATH`) decides where it is set. Else the first of: the nvcc on PATH, /usr/local/cuda-X.Y
    of torch's own version, /usr/local/cuda; one of version `cuda`, torch's, comes before the others.
    """
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        named = os.environ.get(variable)
        if named:
            found = _toolkit(Path(named))
            return found or f"{variable} is {named}, where there is no bin/nvcc that runs: correct or unset {variable}."
    homes = [*_homes_on_path(), Path(f"/usr/local/cuda-{cuda}"), Path("/usr/local/cuda")]
    toolkits = [toolkit for home in dict.fromkeys(homes) if (toolkit := _toolkit(home))]
    if not toolkits:
        version = cuda or "torch's version"
        return f"nvcc was not found: install the CUDA toolkit {version}, or set CUDA_HOME to the folder of one."
    return next((toolkit for toolkit in toolkits if toolkit.version == cuda), toolkits[0])


def _homes_on_path() -> list[Path]:
    """Where the toolkit of the nvcc on PATH may be: it may be a link or a script that starts another."""
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        return []
    homes = []
    finished = run_command([nvcc, "--dryrun", "-c", "-x", "cu", os.devnull])
    top = re.search(r"^#\$ TOP=(.+)$", finished.stderr + finished.stdout, re.MULTILINE) if finished else None
    if top:
        homes.append(Path(os.path.normpath(top.group(1).strip())))
    return [*homes, Path(nvcc).resolve().parent.parent, Path(nvcc).parent.parent]


def _toolkit(home: Path) -> Toolkit | None:
    nvcc = home / "bin" / "nvcc"
    finished = run_command([str(nvcc), "--version"])
    release = re.search(r"release (\d+\.\d+)", finished.stdout) if finished and finished.returncode == 0 else None
    if release is None:
        return None
    listed = run_command([str(nvcc), "--list-gpu-arch"])
    arches = re.findall(r"^compute_(\d+)[a-z]?\s*$", listed.stdout, re.MULTILINE) if listed else []
    return Toolkit(home, release.group(1), tuple(sorted(set(arches), key=int)))


# ------------------------------------------------------------------ checks


def version_problem(toolkit: Toolkit, cuda: str, allow_minor: bool) -> str | None:
    """Apex's build wants nvcc and torch of exactly one CUDA version; `allow_minor` lets the minor one differ."""
    if toolkit.version == cuda:
        return None
    differ = f"nvcc in {toolkit.home} is of CUDA {toolkit.version} and torch was built for CUDA {cuda}"
    remedy = f"install the CUDA toolkit {cuda} and set CUDA_HOME to it, or a torch wheel for CUDA {toolkit.version}"
    if toolkit.version.partition(".")[0] != cuda.partition(".")[0]:
        return f"{differ}: {remedy}."
    if allow_minor:
        return None
    return f"{differ}: {remedy}, or try with ALLOW_CUDA_MINOR=1, since only the minor version differs."


def arch_problem(toolkit: Toolkit, arches: str) -> str | None:
    """Whether nvcc compiles for these compute capabilities (as in TORCH_CUDA_ARCH_LIST)."""
    known = [int(arch) for arch in toolkit.arches]
    for arch in re.findall(r"\d+\.\d+", arches):
        number = int(arch.replace(".", ""))
        if known and number not in known:
            age = "newer" if number > known[0] else "older"
            remedy = f"a{' newer' if age == 'newer' else 'n older'} CUDA toolkit and the torch wheel for it are needed"
            return (
                f"nvcc {toolkit.version} does not compile for compute capability {arch}, "
                f"which is {age} than what it knows: {remedy}."
            )
    return None


def nearest_arch(toolkit: Toolkit, capability: str) -> str:
    """The compute capability to compile for so that it runs on a GPU of this one: itself, or an older of its major."""
    wanted = int(capability.replace(".", ""))
    fitting = [int(arch) for arch in toolkit.arches if int(arch) // 10 == wanted // 10 and int(arch) <= wanted]
    return f"{max(fitting) // 10}.{max(fitting) % 10}" if fitting else capability


def header_problem(toolkit: Toolkit) -> str | None:
    """Whether the headers that torch's own include are there, in the toolkit or beside torch."""
    folders = [toolkit.home / "include", *wheel_includes()]
    for header in HEADERS:
        if not any((folder / header).exists() for folder in folders):
            return (
                f"{header} is neither in {toolkit.home}/include nor beside torch: install the whole CUDA toolkit "
                f"{toolkit.version} (the compiler alone is not enough)."
            )
    return None


def wheel_includes() -> list[Path]:
    """Folders with the CUDA headers that came with torch's wheels (nvidia-cublas and its like)."""
    found: list[Path] = []
    for entry in dict.fromkeys(sys.path):
        found += [path.parent for header in HEADERS for path in Path(entry or ".").glob(f"nvidia/*/include/{header}")]
    return list(dict.fromkeys(found))


def compiler_problem(toolkit: Toolkit | None) -> str | None:
    """Whether there is a C++ compiler, and one that nvcc takes."""
    compiler = shutil.which(os.environ.get("CXX") or "c++") or shutil.which("g++")
    if compiler is None:
        named = os.environ.get("CXX")
        return f"no C++ compiler was found{f' (CXX is {named})' if named else ''}: install g++."
    newest = _newest_gcc(toolkit) if toolkit else None
    major = _gcc_major(compiler)
    if newest is not None and major is not None and major > newest:
        return (
            f"{compiler} is GCC {major} and nvcc {toolkit.version if toolkit else ''} takes GCC {newest} at most: "
            f"install g++-{newest} and set CC=gcc-{newest} CXX=g++-{newest}."
        )
    return None


def _gcc_major(compiler: str) -> int | None:
    finished = run_command([compiler, "-E", "-dM", "-x", "c++", os.devnull])
    if finished is None or finished.returncode != 0 or "__clang__" in finished.stdout:
        return None
    found = re.search(r"#define __GNUC__ (\d+)", finished.stdout)
    return int(found.group(1)) if found else None


def _newest_gcc(toolkit: Toolkit) -> int | None:
    """The newest GCC that nvcc takes, from the header in which it refuses newer ones."""
    try:
        text = (toolkit.home / "include" / "crt" / "host_config.h").read_text(errors="replace")
    except OSError:
        return None
    found = re.search(r"__GNUC__\s*>\s*(\d+)", text)
    return int(found.group(1)) if found else None


def python_header_problem() -> str | None:
    """Whether Python.h is there."""
    folder = Path(sysconfig.get_paths()["include"])
    if (folder / "Python.h").exists():
        return None
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return f"Python.h is not in {folder}: install the headers of Python {version} (python{version}-dev)."


def pip_problem() -> str | None:
    """Whether pip is there and new enough for the build's options."""
    try:
        version = metadata.version("pip")
    except metadata.PackageNotFoundError:
        return f"pip is missing in this environment: {sys.executable} -m ensurepip."
    if tuple(int(part) for part in re.findall(r"\d+", version)[:2]) < _PIP:
        needed = ".".join(map(str, _PIP))
        return f"pip {version} is too old, {needed} is needed: {sys.executable} -m pip install --upgrade pip."
    return None


def disk_problem(folder: Path, needed: int) -> str | None:
    """Whether `needed` bytes are free where `folder` is or will be."""
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    free = shutil.disk_usage(existing).free
    if free >= needed:
        return None
    return f"{existing} has {free / 2**30:.1f} GiB free and the build needs {needed / 2**30:.1f} GiB: make room."


def missing_packages() -> list[str]:
    """Python packages that the build or Apex imports and this environment lacks."""
    versions: dict[str, str] = {}
    for name in _BUILD_PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    missing = [name for name in _BUILD_PACKAGES if name not in versions]
    setuptools = re.match(r"\d+(\.\d+)?", versions.get("setuptools", ""))
    if "wheel" in missing and setuptools and float(setuptools.group(0)) >= _SETUPTOOLS_WITH_WHEEL:
        missing.remove("wheel")
    if "ninja" in missing and shutil.which("ninja"):
        missing.remove("ninja")
    return missing


def jobs() -> int:
    """Compilers to run at once: MAX_JOBS where it is set, else one a core and 3 GiB of free memory."""
    asked = os.environ.get("MAX_JOBS", "")
    if asked.isdigit() and int(asked) > 0:
        return int(asked)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        lines = Path("/proc/meminfo").read_text().splitlines()
        free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, ValueError, StopIteration):
        return 1
    return max(1, min(cores, free // (3 * 2**30)))
