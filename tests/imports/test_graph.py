"""Which files reach which through imports."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate.imports.tree import Imports
from tests.shell.support import tree


def _reached(root: Path, start: str, wanted: str) -> bool:
    files = sorted(str(path) for path in root.rglob("*.py"))
    return Imports(files).reached(str(root / start), {str(root / wanted)}) is not None


def test_through_packages_and_relative_imports(tmp_path: Path) -> None:
    root = tree(
        tmp_path,
        {
            "tools/train.py": "from engine.trainer import train\n",
            "engine/__init__.py": "",
            "engine/trainer.py": "from .layers import nms\nfrom ..other import x\n",
            "engine/layers/__init__.py": "from .nms import nms\n",
            "engine/layers/nms.py": "",
            "elsewhere/nms.py": "",
        },
    )
    assert _reached(root, "tools/train.py", "engine/layers/nms.py")
    assert not _reached(root, "tools/train.py", "elsewhere/nms.py")


def test_one_word_is_beside_or_above(tmp_path: Path) -> None:
    root = tree(
        tmp_path,
        {
            "a/run.py": "import utils\nfrom torch.utils import checkpoint\n",
            "a/utils.py": "",
            "b/utils.py": "",
            "b/checkpoint.py": "",
        },
    )
    assert _reached(root, "a/run.py", "a/utils.py")
    assert not _reached(root, "a/run.py", "b/utils.py")
    assert not _reached(root, "a/run.py", "b/checkpoint.py")


def test_of_two_packages_of_one_name_that_beside_the_script_is_meant(tmp_path: Path) -> None:
    texts = {
        "train.py": "from utils.misc import fit\n",
        "tools/eval.py": "from utils.misc import fit\n",
        "utils/misc.py": "",
        "timm/utils/misc.py": "",
        "timm/utils/__init__.py": "from .misc import fit\n",
        "timm/loss/__init__.py": "",
    }
    root = tree(tmp_path, texts)
    for script in ("train.py", "tools/eval.py"):
        assert _reached(root, script, "utils/misc.py") and not _reached(root, script, "timm/utils/misc.py")


def test_two_packages_of_one_name_that_both_lie_aside_may_both_be_meant(tmp_path: Path) -> None:
    texts = {"train.py": "from utils.misc import fit\n", "one/utils/misc.py": "", "two/utils/misc.py": ""}
    root = tree(tmp_path, texts)
    assert all(_reached(root, "train.py", f"{one}/utils/misc.py") for one in ("one", "two"))


def test_a_module_of_a_package_takes_from_its_package_and_not_from_a_module_of_its_name(tmp_path: Path) -> None:
    names = ("data/__init__.py", "data/data.py", "data/loader.py", "run.py")
    root = tree(tmp_path, {**dict.fromkeys(names, ""), "data/loader.py": "from data import Loader\n"})
    imports = Imports([str(root / name) for name in names])
    assert imports.meant(str(root / "data/loader.py"))["data"] == [str(root / "data/__init__.py")]


def test_a_name_that_stands_in_a_lib_folder_is_meant(tmp_path: Path) -> None:
    """Scripts put `lib` on the path; a file deeper down is no module of the same name (`import random`)."""
    root = tree(
        tmp_path,
        {"train.py": "import core\nimport random\n", "lib/core.py": "", "src/mpu/random.py": "", "src/mpu/core.py": ""},
    )
    imports = Imports([str(one) for one in root.rglob("*.py")])
    assert imports.imported(str(root / "train.py")) == (str(root / "lib/core.py"),)


@pytest.mark.parametrize(
    ("script", "paths"),
    [
        ('import os, sys\nsys.path.append(os.path.join(os.path.dirname(__file__), "..", "common"))\nimport fit\n', ""),
        ("import sys\nsys.path.insert(0, '../common/')\nimport fit\n", ""),
        ("import _init_paths\nimport fit\n", "import sys\nsys.path.insert(0, join(this_dir, '..', 'common'))\n"),
    ],
)
def test_a_folder_that_is_named_beside_the_path_is_looked_into(tmp_path: Path, script: str, paths: str) -> None:
    texts = {"tools/train.py": script, "tools/_init_paths.py": paths, "common/fit.py": "", "third/fit.py": ""}
    root = tree(tmp_path, texts)
    assert _reached(root, "tools/train.py", "common/fit.py")
    assert not _reached(root, "tools/train.py", "third/fit.py")
    (root / "tools/train.py").write_text(script.replace("common", "other"))
    (root / "tools/_init_paths.py").write_text(paths.replace("common", "other"))
    assert not _reached(root, "tools/train.py", "common/fit.py")


def test_names_of_other_packages_take_nothing(tmp_path: Path) -> None:
    """`mmcv.utils`, which is not here, is no `utils.py` of the tree; `swin.utils` may be one, and a plain `utils`."""
    files = {
        "swin/utils.py": "",
        "swin/main.py": "from utils import a\n",
        "det/one.py": "from mmcv.utils import b\n",
        "det/two.py": "from .utils import c\n",
        "det/three.py": "from other.swin.utils import d\n",
        "det/four.py": "from utils import e\n",
    }
    root = tree(tmp_path, files)
    imports = Imports([str(root / name) for name in files])
    assert imports.taken(str(root / "swin/utils.py"), []) == {"a", "d", "e"}


def test_a_package_of_which_a_project_asks_for_a_version_is_not_the_copy_of_another_project(tmp_path: Path) -> None:
    files = {
        "mine/setup.py": "setup(install_requires=['models == 2.1', 'other-name>=1'])\n",
        "mine/src/train.py": "from models.big import Net\nfrom other_name.b import x\n",
        "yours/src/models/__init__.py": "",
        "yours/src/models/big.py": "",
        "yours/src/run.py": "from models.big import Net\n",
        "yours/other_name/b.py": "",
        "third/requirements.txt": "models\n",
        "third/train.py": "from models.big import Net\n",
        "requirements.txt": "models==3\n",
        "tools/train.py": "from models.big import Net\n",
    }
    root = tree(tmp_path, files)
    assert not _reached(root, "mine/src/train.py", "yours/src/models/big.py")
    assert not _reached(root, "mine/src/train.py", "yours/other_name/b.py")
    for user in ("yours/src/run.py", "third/train.py", "tools/train.py"):
        assert _reached(root, user, "yours/src/models/big.py"), user


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("requirements.txt", "torch\nmodels[all] >= 2.1  # the last that works\n"),
        ("setup.cfg", "[options]\ninstall_requires =\n    models~=2.1\n"),
        ("pyproject.toml", '[tool.poetry.dependencies]\nmodels = "2.1"\n'),
        ("environment.yml", "dependencies:\n  - models=2.1\n"),
    ],
)
def test_where_a_version_is_asked_for(tmp_path: Path, file: str, text: str) -> None:
    files = {f"mine/{file}": text, "mine/train.py": "import models.big\n", "yours/models/big.py": ""}
    assert not _reached(tree(tmp_path, files), "mine/train.py", "yours/models/big.py")


@pytest.mark.parametrize(
    "text",
    [
        "import importlib\nlosses = importlib.import_module('pack.losses')\n",
        "losses = __import__('pack.losses', fromlist=['x'])\nother = __import__('pack.losses')\n",
    ],
)
def test_an_import_by_a_name_that_is_written_is_one(tmp_path: Path, text: str) -> None:
    root = tree(tmp_path, {"run.py": text, "pack/__init__.py": "", "pack/losses.py": ""})
    assert _reached(root, "run.py", "pack/losses.py")


def test_what_is_asked_of_a_package_is_taken_from_it(tmp_path: Path) -> None:
    texts = {"run.py": "import pack as p, other\np.Focal()\nother.Dice()\nq.pack.x\n", "pack/losses.py": ""}
    root = tree(tmp_path, {**texts, "pack/__init__.py": "from .losses import Focal\n", "other.py": ""})
    imports = Imports([str(one) for one in root.rglob("*.py")])
    assert [*imports.meant(str(root / "run.py"))] == ["pack", "other", "pack.Focal"]
    assert imports.through(str(root / "run.py")) == {str(root / "pack/losses.py")}


@pytest.mark.parametrize(
    "text",
    [
        "import pack\nlosses = getattr(pack, name)(task)\n",
        "import pack as p\nlosses = vars(p)[name](task)\n",
        "import pack\nlosses = pack.__dict__[name]\n",
        "import pack\nlosses = eval('pack.' + name)\n",
        'import pack\nlosses = eval(f"pack.{name}")\n',
        "import importlib\nlosses = getattr(importlib.import_module('pack'), name)\n",
        "import pydoc\nlosses = pydoc.locate('pack.' + name)\n",
        "from pkgutil import resolve_name\nlosses = resolve_name(f'pack:{name}')\n",
    ],
)
@pytest.mark.parametrize("handed_on", ["from .losses import Focal\n", "from .losses import *\n"])
def test_what_is_asked_of_a_package_by_a_name_may_be_all_that_it_has(tmp_path: Path, text: str, handed_on: str) -> None:
    texts = {"run.py": text, "pack/__init__.py": handed_on, "pack/losses.py": "class Focal:\n    pass\n"}
    root = tree(tmp_path, texts)
    imports = Imports([str(one) for one in root.rglob("*.py")])
    assert {"pack", "pack.Focal"} <= {*imports.meant(str(root / "run.py"))}
    assert imports.through(str(root / "run.py")) == {str(root / "pack/losses.py")}


def test_a_package_that_is_taken_from_another_one(tmp_path: Path) -> None:
    texts = {"run.py": "from lib import pack as p\ngetattr(p, name)\n", "lib/__init__.py": ""}
    more = {"lib/pack/__init__.py": "from .losses import Focal\n", "lib/pack/losses.py": "class Focal:\n    pass\n"}
    root = tree(tmp_path, {**texts, **more})
    imports = Imports([str(one) for one in root.rglob("*.py")])
    assert imports.through(str(root / "run.py")) == {str(root / "lib/pack/losses.py")}


def test_what_is_asked_of_something_else_is_none_of_a_packages(tmp_path: Path) -> None:
    texts = {"run.py": "import pack\ngetattr(args, name)\nvars(args)\nrun('my.pack.' + name)\n"}
    root = tree(tmp_path, {**texts, "pack/__init__.py": "from .losses import Focal\n", "pack/losses.py": ""})
    imports = Imports([str(one) for one in root.rglob("*.py")])
    assert [*imports.meant(str(root / "run.py"))] == ["pack"]


def test_a_name_of_the_own_package_is_one_of_its_init_and_a_module_is_not(tmp_path: Path) -> None:
    texts = {"run.py": "from . import train\n", "only.py": "from . import engine\n", "all.py": "from . import *\n"}
    texts |= {"says.py": "from . import __version__, engine\n", "on.py": "from . import handed\n"}
    texts |= {"low/up.py": "from .. import train\nfrom . import near\n", "low/near.py": ""}
    init = "from .engine import handed\n\n__version__ = '1'\n\n\ndef train():\n    pass\n"
    files = {"__init__.py": init, "engine.py": "", "low/__init__.py": "", **texts}
    root = tree(tmp_path, {f"pkg/{name}": text for name, text in files.items()})
    imports = Imports([str(one) for one in sorted(root.rglob("*.py"))])
    edges = {name: imports.imported(str(root / "pkg" / name)) for name in texts}
    assert {name: [str(Path(one).relative_to(root)) for one in found] for name, found in edges.items()} == {
        "run.py": ["pkg/__init__.py"],
        "only.py": ["pkg/engine.py"],
        "all.py": ["pkg/__init__.py"],
        "says.py": ["pkg/engine.py"],
        "on.py": ["pkg/__init__.py"],
        "low/up.py": ["pkg/__init__.py", "pkg/low/near.py"],
        "low/near.py": [],
    }
