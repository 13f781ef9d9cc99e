"""Doubles of programs of a GPU machine: small scripts on PATH, started as real processes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

H100 = {
    "index": "0",
    "uuid": "GPU-11111111-aaaa-bbbb-cccc-000000000000",
    "name": "NVIDIA H100 80GB HBM3",
    "driver_version": "550.54.15",
    "memory.total": "81559",
    "compute_cap": "9.0",
    "persistence_mode": "Enabled",
    "power.limit": "700.00",
    "mig.mode.current": "Disabled",
    "clocks.max.sm": "1980",
    "clocks.max.memory": "2619",
    "clocks.applications.graphics": "[Requested functionality has been deprecated]",
    "clocks.applications.memory": "2619",
    "clocks.sm": "345",
    "clocks.mem": "2619",
    "temperature.gpu": "31",
    "power.draw": "71.53",
    "utilization.gpu": "0",
    "pstate": "P0",
    "clocks_event_reasons.active": "0x0000000000000005",
}
HEADER = """\
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |
|-----------------------------------------+------------------------+----------------------+
"""

_SMI = """\
#!{python} -ES
import sys
gpus, header, code, complaint = {gpus!r}, {header!r}, {code}, {complaint!r}
if code:
    print(complaint)
    sys.exit(code)
if any(word.startswith("--query-compute-apps=") for word in sys.argv[1:]):
    print(*{computing!r}, sep=chr(10))
    sys.exit()
if "-i" in sys.argv:
    gpus = [gpu for gpu in gpus if gpu["uuid"] == sys.argv[sys.argv.index("-i") + 1]]
query = [word for word in sys.argv[1:] if word.startswith("--query-gpu=")]
if not query:
    print(header)
    sys.exit()
fields = query[0].partition("=")[2].split(",")
for field in fields:
    if field not in gpus[0]:
        print('Field "' + field + '" is not a valid field to query.\\n')
        sys.exit(2)
import time
while True:
    for gpu in gpus:
        print(", ".join(gpu[field] for field in fields), flush=True)
    if "-lms" not in sys.argv:
        break
    time.sleep(int(sys.argv[sys.argv.index("-lms") + 1]) / 1000)
"""


def fake_smi(
    folder: Path,
    gpus: Sequence[dict[str, str]] = (H100,),
    header: str = HEADER,
    code: int = 0,
    complaint: str = "",
    computing: Sequence[int] = (),
) -> Path:
    """A double of nvidia-smi: it knows the fields of `gpus` and no others, or fails with `complaint`; `computing` are
    the processes on the GPU."""
    text = _SMI.format(
        python=sys.executable,
        gpus=list(gpus),
        header=header,
        code=code,
        complaint=complaint,
        computing=list(computing),
    )
    return _program(folder / "nvidia-smi", text)


def fake_cuda(
    home: Path, version: str = "13.0", arches: Sequence[int] = (75, 80, 90, 100), newest_gcc: int = 99
) -> Path:
    """A double of a CUDA toolkit: an nvcc that says its version and architectures, and the headers by name."""
    listed = " ".join(f"compute_{arch}" for arch in arches)
    text = f"""#!/bin/sh
case "$1" in
  --version|-V) echo "Cuda compilation tools, release {version}, V{version}.88";;
  --list-gpu-arch) printf '%s\\n' {listed};;
  *) echo "this nvcc compiles nothing" >&2; exit 1;;
esac
"""
    _program(home / "bin" / "nvcc", text)
    include = home / "include"
    (include / "crt").mkdir(parents=True, exist_ok=True)
    for name in ("cuda_runtime.h", "cublas_v2.h", "cusparse.h", "cusolverDn.h"):
        (include / name).touch()
    (include / "crt" / "host_config.h").write_text(f"#if __GNUC__ > {newest_gcc}\n#error -- unsupported GNU version!\n")
    return home


def fake_apex(folder: Path, setup: str | None = None) -> Path:
    """A source tree with Apex's layout whose "extensions" are Python modules: pip installs it in a second."""
    files = {
        "setup.py": setup or _SETUP,
        "pyproject.toml": "[build-system]\nrequires = ['setuptools']\nbuild-backend = 'setuptools.build_meta'\n",
        "apex/__init__.py": "",
        "apex/amp/__init__.py": "",
        "apex/multi_tensor_apply/__init__.py": _APPLY,
        "csrc/flatten_unflatten.cpp": "// nothing\n",
        "amp_C.py": "",
        "apex_C.py": "",
        "build/left.o": "an object of an earlier build\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


_SETUP = """\
import sys
from setuptools import setup, find_packages
modules = []
if "bdist_wheel" in sys.argv:
    for option in ("--cpp_ext", "--cuda_ext"):
        sys.argv.remove(option)  # raises where pip did not hand it on
    modules = ["amp_C", "apex_C"]
    print("building 'amp_C' extension")
    print("[1/1] c++ nothing")
cc_flag = ["-gencode", "arch=compute_70,code=sm_70"]
setup(name="apex", version="0.1", packages=find_packages(include=["apex*"]), py_modules=modules)
"""
_APPLY = """\
class Applier:
    available = True
multi_tensor_applier = Applier()
"""


def fake_slurm(folder: Path, kept: Path) -> Path:
    """A double of sbatch: it keeps the file it is given and says a job's number. Nothing runs; sacct knows of no
    job."""
    _program(folder / "sbatch", f'#!/bin/sh\ncp "$1" "{kept}"\necho "Submitted batch job 4711"\n')
    _program(folder / "srun", "#!/bin/sh\nexit 1\n")
    return _program(folder / "sacct", "#!/bin/sh\nexit 0\n").parent


def _program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path
