"""Names that other files take from a module."""

from __future__ import annotations

from pathlib import Path

from migrate.imports.spelled import module_name
from migrate.imports.tree import Imports
from tests.shell.support import exported, tree


def test_names_of_every_import_form(tmp_path: Path) -> None:
    wanted = tmp_path / "package" / "engine.py"
    users = {
        "a.py": "from package.engine import (train as run,\n    evaluate)\n",
        "package/b.py": "from . import engine\nengine.save(1)\n",
        "c.py": "import package.engine as e, os\ne.load()\n",
        "d.py": "from other import engine_room\nengine_room.flood()\n",
        "e.py": "# from engine import never\n",
        "f.py": "import package\npackage.engine.stop()\n",
        "package/__init__.py": "",
    }
    tree(tmp_path, {**users, "package/engine.py": "def train(): ...\n"})
    found = exported([str(tmp_path / name) for name in users], [str(wanted)])
    assert found == {str(wanted): frozenset({"train", "evaluate", "save", "load", "stop"})}


def test_a_file_that_is_called_alike_is_another_one(tmp_path: Path) -> None:
    """What is taken of ``vision/utils.py`` is not taken of ``text/utils.py``, whoever imports both."""
    users = {
        "train.py": "from vision.utils import crop\nimport text.utils as utils\n\nutils.tokenize()\n",
        "eval.py": "from mmcv.utils import Config\n",
    }
    root = tree(tmp_path, {**users, "vision/utils.py": "", "text/utils.py": ""})
    wanted = [str(root / "vision/utils.py"), str(root / "text/utils.py")]
    found = exported([str(root / name) for name in users], wanted)
    assert found == {wanted[0]: frozenset({"crop"}), wanted[1]: frozenset({"tokenize"})}


def test_names_of_the_own_package(tmp_path: Path) -> None:
    """``from . import train`` takes it from the ``__init__.py`` beside it; ``from . import engine`` is a module."""
    users = {"pkg/run.py": "from . import train\n", "pkg/low/run.py": "from .. import stop as halt, engine\n"}
    users |= {"pkg/__init__.py": "def train():\n    pass\n\n\ndef stop():\n    pass\n"}
    root = tree(tmp_path, {**users, "pkg/engine.py": "", "pkg/low/__init__.py": ""})
    wanted = str(root / "pkg/__init__.py")
    found = exported([str(root / name) for name in users], [wanted, str(root / "pkg/engine.py")])
    assert found[wanted] >= {"train", "stop"}


def test_a_module_that_leads_nowhere_may_be_one_below_a_folder_of_its_package(tmp_path: Path) -> None:
    """``pkg`` is installed from ``src/pkg`` under another name, or a path to it is added."""
    root = tree(tmp_path, {"code/pkg/engine.py": "", "user.py": "from pkg.core.engine import train\n"})
    wanted = str(root / "code/pkg/engine.py")
    assert exported([str(root / "user.py")], [wanted]) == {wanted: frozenset({"train"})}


def test_comments_in_parentheses_end_nothing(tmp_path: Path) -> None:
    wanted, user = tmp_path / "engine.py", tmp_path / "user.py"
    user.write_text("from engine import (  # all (or nearly)\n    stop,  # (early)\n    resume,\n)\n")
    assert {"stop", "resume"} <= exported([str(user)], [str(wanted)])[str(wanted)]


def test_a_module_that_is_replaced_by_its_name_may_give_any(tmp_path: Path) -> None:
    """A name in brackets is that module's alone; a computed one may be any that the file spells."""
    optimizer, scaler, user = tmp_path / "optimizer.py", tmp_path / "loss_scaler.py", tmp_path / "user.py"
    wanted = [str(optimizer), str(scaler)]
    user.write_text("import sys\n\nsys.modules['fp16.loss_scaler'] = new\nx = state['optimizer']\n")
    assert exported([str(user)], wanted) == {str(optimizer): frozenset(), str(scaler): frozenset("*")}
    user.write_text("import sys\n\nsys.modules[name] = new\nx = state['optimizer']\n")
    assert exported([str(user)], wanted) == {str(optimizer): frozenset("*"), str(scaler): frozenset()}


def test_a_module_of_apex_is_none_of_the_trees_that_is_called_alike(tmp_path: Path) -> None:
    wanted, user = tmp_path / "fused_layer_norm.py", tmp_path / "user.py"
    user.write_text("from apex.normalization.fused_layer_norm import FusedLayerNorm\n")
    assert exported([str(user)], [str(wanted)]) == {str(wanted): frozenset()}
    copy = tmp_path / "apex" / "normalization" / "fused_layer_norm.py"
    assert exported([str(user)], [str(copy)]) == {str(copy): frozenset({"FusedLayerNorm"})}


def test_a_module_by_several_names(tmp_path: Path) -> None:
    text = ("from package import engine as motor\nimport package.engine\n\n"
            "x = motor.start.at + package.engine.turn(1) + package.other\n")
    root = tree(tmp_path, {"package/engine.py": "", "user.py": text})
    wanted = str(root / "package/engine.py")
    assert exported([str(root / "user.py")], [wanted]) == {wanted: frozenset({"start", "turn"})}


def test_a_package_is_known_by_its_folder() -> None:
    assert module_name("src/amp/__init__.py") == "amp"


def test_classes_that_others_derive_and_train(tmp_path: Path) -> None:
    wanted = tmp_path / "package" / "core.py"
    users = {
        "package/a.py": "from .core import Core as Base, Quiet, Other\nclass A(Base, object):\n\n"
                "    def update(self):\n"
                "        self.optimizer.step()\nclass B(Quiet):\n    def log(self):\n        self.scheduler.step()\n"
                "class C(Own):\n    pass\nOther().step()\n",
        "b.py": "import package.core as core\nclass D(core.Further):\n"
                "    def back(self, loss):\n        loss.backward()\n",
    }
    tree(tmp_path, {**users, "package/core.py": ""})
    found = exported([str(tmp_path / name) for name in users], [str(wanted)])[str(wanted)]
    assert {one for one in found if one.startswith("class ")} == {"class Core", "class Further"}


def test_nothing_wanted_reads_nothing(tmp_path: Path) -> None:
    assert exported([str(tmp_path / "missing.py")], []) == {}


def test_a_librarys_modules_by_computed_names_are_none_of_the_tree(tmp_path: Path) -> None:
    wanted = tmp_path / "optimizer.py"
    texts = {
        "a.py": "zoo = import_module(f'torchvision.models.{name}')\nsaved['optimizer'] = 1\n",
        "b.py": "hook = import_module(f'hooks.{name}')\nname = 'optimizer'\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(f"from importlib import import_module\n{text}")
    assert exported([str(tmp_path / "a.py")], [str(wanted)])[str(wanted)] == frozenset()
    assert exported([str(tmp_path / "b.py")], [str(wanted)])[str(wanted)] == {"*"}


def test_a_device_is_no_module(tmp_path: Path) -> None:
    wanted = tmp_path / "cuda.py"
    texts = {"a.py": "net.to('cuda')\nimport_module(name)\n", "b.py": "import_module('utils.cuda')\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(f"from importlib import import_module\n{text}")
    assert exported([str(tmp_path / "a.py")], [str(wanted)])[str(wanted)] == frozenset()
    assert exported([str(tmp_path / "b.py")], [str(wanted)])[str(wanted)] == {"*"}


def test_modules_of_one_package_by_computed_names_are_none_of_other_folders(tmp_path: Path) -> None:
    """`import_module("datasets." + name)` beside the string `'train'` may mean `datasets/train.py`, and no other."""
    files = ["train.py", "datasets/__init__.py", "datasets/train.py", "datasets/coco/train.py", "zoo/a.py"]
    root = tree(tmp_path, dict.fromkeys(files, ""))
    ways = {
        "import_module(f'datasets.{name}')": False,
        "import_module('datasets.{}'.format(name))": False,
        "import_module('datasets.' + name)": False,
        "import_module('zoo.%s_set' % name); import_module('datasets.' + name)": False,
        "import_module('elsewhere.' + name)": True,
        "import_module(name)": True,
        "import_module('.' + name, 'zoo')": True,
        "import_module('datasets.' + name); import_module(name)": True,
        "exec(name)": True,
    }
    for way, anywhere in ways.items():
        (root / "datasets/__init__.py").write_text(f"from importlib import import_module\nmode = 'train'\n{way}\n")
        imports = Imports([str(one) for one in root.rglob("*.py")])
        assert bool(imports.taken(str(root / "train.py"), [])) is anywhere, way
        assert imports.taken(str(root / "datasets/train.py"), []) == {"*"}, way
        assert imports.taken(str(root / "datasets/coco/train.py"), []) == {"*"}, way


def test_what_no_star_reads(tmp_path: Path) -> None:
    """Of files that take all from one, and of those that import them, none says `amp`: nobody takes it from there."""
    ways = {
        "from include import *\nprint(train)\n": {"amp", "apex"},
        "from include import *\nprint(amp)\n": {"apex"},
        "from include import *\nprint('amp')\n": {"apex"},
        "from include import *\nif apex:\n    pass\n": {"amp"},
        "from include import *\nmodel = getattr(nn, args.model)(eval(args.size))\n": {"amp", "apex"},
        "import include\nfrom include import *\ngetattr(include, args.name)\n": set(),
        "from include import *\nexec(text)\n": set(),
        "import include\n\ndef f(name):\n    return getattr(include, name)\n": set(),
        "from importlib import import_module\nimport_module({'a': 'include'}[name])\n": set(),
    }
    files = {"include.py": "from apex import amp\n", "train.py": "from include import *\namp\n"}
    for way, unread in ways.items():
        root = tree(tmp_path, files | {"a.py": way})
        train, include = str(root / "train.py"), str(root / "include.py")
        imports = Imports([str(one) for one in root.rglob("*.py")])
        assert imports.unread(include, [include, train]) == unread, way
    tree(tmp_path, {"a.py": "from include import *\n", "train.py": "from a import *\namp\n"})
    imports = Imports([str(one) for one in root.rglob("*.py")])
    assert imports.unread(include, [include]) == {"apex"}  # by way of another file
