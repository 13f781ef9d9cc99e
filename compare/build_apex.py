"""Builds NVIDIA Apex from source, with its C++ and CUDA extensions, into this Python's environment: `make apex`.

    python -m compare.build_apex [--source DIR] [--check] [--optional] [--force] [--allow-cuda-minor] [--folder DIR]

Variables do the same: APEX_SRC, FORCE=1, ALLOW_CUDA_MINOR=1; TORCH_CUDA_ARCH_LIST, MAX_JOBS, CUDA_HOME, CC and
CXX mean what they mean to torch. Exit code 0: a usable Apex is there (with --check: could be built). 2: not, and
one sentence says why. docs/apex-build.md describes it all.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from . import apex, home, toolchain
from .errors import UserError
from .nvidia import driver
from .toolchain import Toolkit

URL = "https://github.com/NVIDIA/apex"
COMMIT = "379937e1719b8190f38f3e666e2a8d32c97e221f"
"""The commit of tag 25.05. (The tag is an annotated one: f1a5bde847fa is the tag's own object, not a commit.)"""
DIGEST = "a9b8e464541d3a7d36fb806a0aa87283e72f4da2a409c9c50926a1196b61eb0e"
"""`tree_digest` of that commit, by which an unpacked archive of it is recognised."""

DONE, FAILED, INTERRUPTED = 0, 2, 130
_DISK = 2 * 2**30
_OPTIONS = ("--cpp_ext", "--cuda_ext")
_PARTS = ("setup.py", "apex", "csrc")
_SUFFIXES = {".py", ".cpp", ".cu", ".h", ".cuh"}
_LEFT_OUT = shutil.ignore_patterns(".git", "build", "dist", "*.egg-info", "__pycache__", "*.so")
_ERROR = re.compile(r"\berror: |\bfatal\b|\w+Error: |No space left on device|\bKilled\b|cannot find -l")


@dataclass(frozen=True)
class Source:
    """Where Apex is built from; `identity` names its contents."""

    folder: Path | None
    """None: to be cloned."""
    commit: str | None
    identity: str
    title: str


@dataclass(frozen=True)
class Plan:
    """Everything the build needs to know, found before it starts."""

    source: Source
    torch: str
    cuda: str
    toolkit: Toolkit
    arches: str
    jobs: int
    allow_minor: bool

    @property
    def key(self) -> str:
        """The name of its folder: equal plans continue one another's build."""
        name = f"{self.source.identity[:12]}-torch{self.torch}-cuda{self.toolkit.version}-sm{self.arches}"
        return re.sub(r"[^A-Za-z0-9.+-]+", "_", name) + f"-py{sys.version_info.major}.{sys.version_info.minor}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    options = _parser().parse_args(arguments)
    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    previous = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        status = build(console, options)
        if status == FAILED and options.optional:
            console.print("The comparison goes on without Apex.")
            return DONE
        return status
    except UserError as error:
        console.print(f"make apex: {error}")
        return DONE if options.optional else FAILED
    except KeyboardInterrupt:
        console.print("make apex: interrupted; the next run continues with what is compiled.")
        return INTERRUPTED
    except OSError as error:
        console.print(f"make apex: {error.filename or 'the file system'}: {error.strerror or error}.")
        return FAILED
    finally:
        signal.signal(signal.SIGTERM, previous)


def build(console: Console, options: argparse.Namespace) -> int:
    """Check, build, install, check again."""
    if options.optional and driver() is None:
        console.print("Apex is not built: there is no GPU that it could run on.")
        return DONE
    source = find_source(options.source)
    builds: Path = options.folder.absolute()
    plan, problems = preflight(source, builds, options.allow_cuda_minor)
    if not options.force and not options.check:
        there = already(plan)
        if there:
            console.print(f"{there} Nothing to do (FORCE=1 builds it again).")
            return DONE
    if plan is None or problems:
        for problem in problems:
            console.print(f"make apex: {problem}")
        return FAILED
    notes = describe(plan)
    for line in notes:
        console.print(line)
    if options.check:
        console.print("Apex can be built here.")
        return DONE
    install_missing(console)
    folder = builds / plan.key
    if options.force:
        shutil.rmtree(folder, ignore_errors=True)
    tree, edits = prepare(plan, folder)
    for edit in edits:
        console.print(f"In the build's copy of setup.py: {edit}.")
    started = time.monotonic()
    compile_and_install(console, plan, tree, folder / "build.log")
    found = verify()
    failure = found["problem"] if found["gpu"] else found["install"]
    if failure:
        raise UserError(f"Apex was built, but {failure} The log is {folder / 'build.log'}.")
    write_record(Path(found["package"]), plan, edits)
    minutes = (time.monotonic() - started) / 60
    console.print(
        f"Apex {plan.source.title} is built and installed in {minutes:.0f} min: amp_C and apex_C import and "
        "multi_tensor_applier is available."
    )
    if found["gpu"]:
        console.print("A fused kernel ran on this GPU with the right result.")
    else:
        console.print(f"It cannot be tried further here: {found['problem']}")
    return DONE


# ------------------------------------------------------------------ the source


def find_source(named: Path | None) -> Source:
    """The source: the named folder, which is only read, else the pinned tag, cloned later."""
    if named is None:
        return Source(None, COMMIT, COMMIT, f"tag {apex.TAG}")
    folder = named.expanduser().absolute()
    if not (folder / "setup.py").is_file() or not (folder / "apex").is_dir():
        raise UserError(f"APEX_SRC is {named}, which is not a source tree of NVIDIA Apex (no setup.py, no apex/).")
    if not (folder / "apex" / "amp").is_dir() or not (folder / "csrc").is_dir():
        raise UserError(
            f"APEX_SRC is {named}, an Apex without apex.amp, which 25.07 dropped: take tag {apex.TAG} or an older one."
        )
    digest = tree_digest(folder)
    if digest == DIGEST:
        return Source(folder, COMMIT, COMMIT, f"tag {apex.TAG}")
    commit = _git(folder, "rev-parse", "HEAD") if (folder / ".git").exists() else None
    changed = bool(commit and _git(folder, "status", "--porcelain", "--untracked-files=no"))
    title = f"from {folder.name}" + (f", commit {commit[:12]}" if commit else "") + (" with changes" if changed else "")
    return Source(folder, commit if commit and not changed else None, digest, title)


def tree_digest(folder: Path) -> str:
    """SHA-256 of what is built: setup.py and the sources below apex/ and csrc/, apex/contrib left out."""
    digest = hashlib.sha256()
    files = [folder / "setup.py"]
    for part in _PARTS[1:]:
        files += [path for path in (folder / part).rglob("*") if path.suffix in _SUFFIXES and path.is_file()]
    for path in sorted(files, key=lambda path: path.relative_to(folder).as_posix()):
        name = path.relative_to(folder).as_posix()
        if not name.startswith("apex/contrib/"):
            digest.update(f"{name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


def clone(to: Path, url: str = URL, tag: str = apex.TAG, commit: str = COMMIT) -> None:
    """Clone one tag and verify its commit; `to` appears whole or not at all."""
    if shutil.which("git") is None:
        raise UserError("git was not found: install it, or set APEX_SRC to a source tree of Apex.")
    part = to.with_name(to.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    finished = subprocess.run(
        ["git", "-c", "advice.detachedHead=false", "clone", "--quiet", "--depth", "1", "--branch", tag, url, str(part)],
        capture_output=True,
        text=True,
        env={**os.environ, "GIT_TERMINAL_PROMPT": "0"},
    )
    if finished.returncode:
        said = finished.stderr.strip().rpartition("\n")[2]
        raise UserError(f"{url} could not be cloned ({said}): set APEX_SRC to a source tree of Apex, tag {tag}.")
    found = _git(part, "rev-parse", "HEAD")
    if found != commit:
        shutil.rmtree(part, ignore_errors=True)
        raise UserError(f"tag {tag} of {url} is commit {found}, not {commit}: it was moved, so it is not built.")
    part.rename(to)


def prepare(plan: Plan, folder: Path) -> tuple[Path, tuple[str, ...]]:
    """A copy of the source to build in, and what was changed in it. An unfinished build's copy is used on."""
    tree = folder / "source"
    if not tree.exists():
        folder.mkdir(parents=True, exist_ok=True)
        part = folder / "source.part"
        shutil.rmtree(part, ignore_errors=True)
        if plan.source.folder is None:
            clone(part)
        else:
            part.mkdir()
            for entry in sorted(plan.source.folder.iterdir()):
                if entry.is_dir() and entry.name in _PARTS:
                    shutil.copytree(entry, part / entry.name, ignore=_LEFT_OUT, symlinks=True)
                elif entry.is_file() and not entry.name.startswith("."):
                    shutil.copy2(entry, part / entry.name)
        setup = part / "setup.py"
        text, edits = edit_setup(setup.read_text(), plan.toolkit.arches, plan.toolkit.version != plan.cuda)
        setup.write_text(text)
        (part / "edits.json").write_text(json.dumps(edits))
        part.rename(tree)
    return tree, tuple(json.loads((tree / "edits.json").read_text()))


def edit_setup(text: str, arches: Iterable[str], drop_version_check: bool) -> tuple[str, list[str]]:
    """Apex's setup.py so that this nvcc takes it, and what was changed, in words.

    `arches` are the architectures nvcc knows, oldest first. setup.py names some itself, whatever
    TORCH_CUDA_ARCH_LIST says; one that nvcc no longer knows (7.0 for CUDA 13) becomes the oldest it knows.
    """
    known = list(arches)
    edits = []
    for arch in dict.fromkeys(re.findall(r"arch=compute_(\d+),code=sm_\1\b", text)):
        if known and arch not in known and int(arch) < int(known[0]):
            text = text.replace(f"arch=compute_{arch},code=sm_{arch}", f"arch=compute_{known[0]},code=sm_{known[0]}")
            edits.append(f"compute_{arch}, which this nvcc no longer knows, became compute_{known[0]}")
    if drop_version_check:
        check = "if (bare_metal_version != torch_binary_version):"
        if check in text:
            text = text.replace(check, "if bare_metal_version.major != torch_binary_version.major:")
            edits.append("the minor versions of CUDA may differ")
    return text, edits


# ------------------------------------------------------------------ checks before


def preflight(source: Source, folder: Path, allow_minor: bool) -> tuple[Plan | None, list[str]]:
    """The plan, and a sentence for each thing that stands in its way; without a plan there is at least one."""
    try:
        import torch
    except ImportError as error:
        return None, [f"torch does not import ({error}): install it first, Apex is built against it."]
    cuda: str | None = torch.version.cuda
    if cuda is None:
        return None, [f"torch {torch.__version__} is built without CUDA: install a torch wheel for CUDA first."]
    toolkit = toolchain.find_toolkit(cuda)
    arches = os.environ.get("TORCH_CUDA_ARCH_LIST") or _present(toolkit if isinstance(toolkit, Toolkit) else None)
    problems: list[str | None] = []
    if isinstance(toolkit, str):
        problems.append(toolkit)
    else:
        problems.append(toolchain.version_problem(toolkit, cuda, allow_minor))
        problems.append(toolchain.arch_problem(toolkit, arches))
        problems.append(toolchain.header_problem(toolkit))
    problems.append(toolchain.compiler_problem(toolkit if isinstance(toolkit, Toolkit) else None))
    problems.append(toolchain.python_header_problem())
    problems.append(toolchain.pip_problem())
    problems.append(toolchain.disk_problem(folder, _DISK))
    if not arches:
        problems.append(
            "there is no GPU to build for: set TORCH_CUDA_ARCH_LIST to the compute capability of the one it is for "
            "(9.0 for an H100 or H200, 8.0 for an A100)."
        )
    if source.folder is None and shutil.which("git") is None:
        problems.append("git was not found: install it, or set APEX_SRC to a source tree of Apex.")
    said = [problem for problem in problems if problem]
    if isinstance(toolkit, str):
        return None, said
    return Plan(source, torch.__version__, cuda, toolkit, arches, toolchain.jobs(), allow_minor), said


def _present(toolkit: Toolkit | None) -> str:
    """The compute capabilities of the GPUs present, for TORCH_CUDA_ARCH_LIST; empty without a GPU."""
    import torch

    if torch.cuda.is_available():
        pairs = {torch.cuda.get_device_capability(number) for number in range(torch.cuda.device_count())}
        found = [f"{major}.{minor}" for major, minor in pairs]
    else:
        seen = driver()
        found = [gpu.compute_capability for gpu in (seen.gpus if seen else ()) if gpu.compute_capability]
    if toolkit is not None:
        found = [toolchain.nearest_arch(toolkit, capability) for capability in found]
    return ";".join(sorted(set(found), key=lambda capability: [int(part) for part in capability.split(".")]))


def describe(plan: Plan) -> list[str]:
    """What will be built, in lines."""
    lines = [
        f"Apex {plan.source.title} for torch {plan.torch}, CUDA {plan.toolkit.version} ({plan.toolkit.home}), "
        f"compute capability {plan.arches}, {plan.jobs} at a time.",
    ]
    missing = toolchain.missing_packages()
    if missing:
        lines.append(f"These packages are missing and will be installed with pip: {', '.join(missing)}.")
    if plan.toolkit.version != plan.cuda:
        lines.append(f"ALLOW_CUDA_MINOR: nvcc is {plan.toolkit.version} and torch's CUDA is {plan.cuda}.")
    return lines


def already(plan: Plan | None) -> str | None:
    """The sentence for an Apex that need not be built: ours for this very plan, or another that works here."""
    installed = apex.apex_version()
    if installed is None:
        return None
    ours = installed.source is not None
    if ours and plan is not None:
        wanted = _wanted(plan)
        if plan.source.folder is None:  # no source was named: any that was built for this torch and GPU will do
            wanted = {key: wanted[key] for key in ("torch", "cuda", "arches")}
        if any(getattr(installed, key) != value for key, value in wanted.items()):
            return None
    found = verify()
    untried = not found["gpu"] and ours and plan is not None  # built for elsewhere
    if found["install"] or (found["problem"] and not untried):
        return None
    if ours:
        built = f"torch {installed.torch} and compute capability {installed.arches}"
        return f"Apex {installed.source} is already built for {built}."
    return f"A usable Apex ({installed.version}), not built by make apex, is already installed."


def _wanted(plan: Plan) -> dict[str, Any]:
    return {
        "commit": plan.source.commit,
        "source": plan.source.title,
        "identity": plan.source.identity,
        "torch": plan.torch,
        "cuda": plan.toolkit.version,
        "arches": plan.arches,
    }


# ------------------------------------------------------------------ the build


def install_missing(console: Console) -> None:
    """Install what the build itself needs; nothing that is there is changed."""
    missing = toolchain.missing_packages()
    if not missing:
        return
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", *missing]
    finished = subprocess.run(command, capture_output=True, text=True)
    if finished.returncode:
        said = (finished.stderr.strip() or finished.stdout.strip()).rpartition("\n")[2]
        raise UserError(f"the build needs {', '.join(missing)}, and pip could not install them: {said}")


def compile_and_install(console: Console, plan: Plan, tree: Path, log: Path) -> None:
    """Run pip on the copy; its output goes to `log`, a line about the progress to the console."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "-v", "--no-build-isolation"]
    command += ["--no-deps", "--no-cache-dir", "--force-reinstall"]
    command += [f"--config-settings=--build-option={option}" for option in _OPTIONS]
    console.print(f"Compiling; the log is {log}.")
    with log.open("w", encoding="utf-8") as file:
        process = subprocess.Popen(
            [*command, str(tree)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=build_environment(plan),
            start_new_session=True,  # so that an interruption ends the compilers with it
        )
        try:
            _follow(console, process, file)
            code = process.wait()
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            process.wait()
            raise
    if code:
        shown = first_errors(log.read_text(encoding="utf-8", errors="replace").splitlines())
        for line in shown:
            console.print(f"  {line}")
        raise UserError(f"the build failed (pip's exit code {code}); the whole log is {log}.")


def build_environment(plan: Plan) -> dict[str, str]:
    """The environment of the compilers."""
    environment = {**os.environ, "CUDA_HOME": str(plan.toolkit.home), "TORCH_CUDA_ARCH_LIST": plan.arches}
    environment["MAX_JOBS"] = str(plan.jobs)
    # nvcc of this toolkit, ninja of this Python: neither need be on the caller's PATH.
    folders = [str(plan.toolkit.home / "bin"), str(Path(sys.executable).parent)]
    environment["PATH"] = os.pathsep.join([*folders, environment.get("PATH", os.defpath)])
    if any(not (plan.toolkit.home / "include" / header).exists() for header in toolchain.HEADERS):
        # A toolkit without the libraries' headers; those beside torch are searched after its own.
        extra = [str(path) for path in toolchain.wheel_includes()]
        environment["CPLUS_INCLUDE_PATH"] = os.pathsep.join(
            [*filter(None, [environment.get("CPLUS_INCLUDE_PATH")]), *extra]
        )
    return environment


def _follow(console: Console, process: subprocess.Popen[str], file: Any) -> None:
    assert process.stdout is not None
    started = time.monotonic()
    extensions = 0
    name = "preparing"
    with console.status("preparing") as status:
        for line in process.stdout:
            file.write(line)
            file.flush()
            begun = re.match(r"\s*building '(\w+)' extension", line)
            counted = re.match(r"\s*\[(\d+)/(\d+)\] ", line)
            if begun:
                extensions += 1
                name = f"extension {extensions}: {begun.group(1)}"
            elif not counted:
                continue
            minutes, seconds = divmod(int(time.monotonic() - started), 60)
            step = f", file {counted.group(1)} of {counted.group(2)} done" if counted else ""
            text = f"{minutes}:{seconds:02d}  {name}{step}"
            status.update(text)
            if begun and not console.is_terminal:
                console.print(text)


def first_errors(lines: Sequence[str], count: int = 5) -> list[str]:
    """The first lines that look like errors and are no commands, else the last lines."""
    found = [line.strip() for line in lines if _ERROR.search(line) and " -c " not in line]
    shown = found[:count] or [line.strip() for line in lines[-count:]]
    return [line if len(line) <= 240 else line[:237] + "..." for line in shown]


# ------------------------------------------------------------------ afterwards


def verify() -> dict[str, Any]:
    """What a fresh process says of the installed Apex: what `compare.apex.main` prints."""
    finished = subprocess.run(home.process("apex"), capture_output=True, text=True, env=home.environment())
    try:
        found: dict[str, Any] = json.loads(finished.stdout.strip().rpartition("\n")[2])
    except ValueError:
        said = finished.stderr.strip().rpartition("\n")[2]
        reason = f"a process that imports it ends with exit code {finished.returncode} ({said})."
        return {"install": reason, "problem": reason, "package": None, "gpu": False}
    return found


def write_record(package: Path, plan: Plan, edits: Sequence[str]) -> None:
    """Leave beside Apex what it was built from and for: its own version is 0.1 in every release."""
    record = apex.ApexVersion(version=apex.TAG, **_wanted(plan), edits=tuple(edits))
    fields = {key: value for key, value in asdict(record).items() if key != "version"}
    part = package / (apex.RECORD + ".part")
    part.write_text(json.dumps({**fields, "python": sys.version.split()[0]}, indent=1) + "\n")
    os.replace(part, package / apex.RECORD)


def _git(folder: Path, *arguments: str) -> str | None:
    with suppress(OSError):
        finished = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True)
        return finished.stdout.strip() if finished.returncode == 0 else None
    return None


def _parser() -> argparse.ArgumentParser:
    def switched_on(variable: str) -> bool:
        return os.environ.get(variable, "") not in ("", "0")

    parser = argparse.ArgumentParser("python -m compare.build_apex", description="Build NVIDIA Apex for this torch.")
    add = parser.add_argument
    source = os.environ.get("APEX_SRC") or None
    folder = Path("build") / "apex"
    add("--source", type=Path, default=source, metavar="DIR", help="a source tree of Apex (APEX_SRC); it is copied")
    add("--check", action="store_true", help="only say whether it can be built")
    add("--optional", action="store_true", help="it is no error if Apex cannot be built; without a GPU it is not tried")
    add("--force", action="store_true", default=switched_on("FORCE"), help="build also where one is there (FORCE=1)")
    add(
        "--allow-cuda-minor",
        action="store_true",
        default=switched_on("ALLOW_CUDA_MINOR"),
        help="build with an nvcc whose minor version is not that of torch's CUDA (ALLOW_CUDA_MINOR=1)",
    )
    add("--folder", type=Path, default=folder, metavar="DIR", help=f"where to build (default: {folder})")
    return parser


if __name__ == "__main__":
    sys.exit(main())
