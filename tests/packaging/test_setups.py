"""``setup.py``, ``setup.cfg`` and ``pyproject.toml``."""

from __future__ import annotations

import ast

import pytest

from migrate.packaging import inis, setups, tomls
from migrate.packaging.mention import About, Mention
from migrate.packaging.texts import without


def left(text: str, found: list[Mention]) -> str:
    return without(text, [one.cut for one in found if one.cut is not None])


def setup_py(text: str) -> str:
    return left(text, setups.look(text))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("setup(install_requires=['torch', 'apex'])\n", "setup(install_requires=['torch'])\n"),
        ("setup(install_requires=['apex', 'torch'])\n", "setup(install_requires=['torch'])\n"),
        ("setup(install_requires=['a', 'apex', 'b'])\n", "setup(install_requires=['a', 'b'])\n"),
        ("setup(install_requires=['apex'])\n", "setup(install_requires=[])\n"),
        ("setup(install_requires=('apex',))\n", "setup(install_requires=())\n"),
        ("setup(install_requires=['torch', 'apex',])\n", "setup(install_requires=['torch',])\n"),
        ("setup(install_requires=['apex', 'nvidia-apex'])\n", "setup(install_requires=[])\n"),
        (
            "setup(\n    install_requires=[\n        'torch',\n        'apex @ git+https://github.com/NVIDIA/apex',\n"
            "        'tqdm',\n    ],\n)\n",
            "setup(\n    install_requires=[\n        'torch',\n        'tqdm',\n    ],\n)\n",
        ),
        ("setup(install_requires=[\n    'torch',\n    'apex'\n])\n", "setup(install_requires=[\n    'torch',\n])\n"),
        (
            "setup(install_requires=[\r\n    'torch',\r\n    'apex',  # fp16\r\n])\r\n",
            "setup(install_requires=[\r\n    'torch',\r\n])\r\n",
        ),
        ("requirements = ['torch', 'apex']\n", "requirements = ['torch']\n"),
        ("install_requires: list = ['apex']\n", "install_requires: list = []\n"),
        ("requires += ['apex==0.1']\n", "requires += []\n"),
        ("extras = {'fp16': ['apex'], 'dev': ['x']}\n", "extras = {'fp16': [], 'dev': ['x']}\n"),
        ("setup(extras_require={'fp16': ['apex']})\n", "setup(extras_require={'fp16': []})\n"),
        ("setup(name='é', install_requires=['é', 'apex'])\n", "setup(name='é', install_requires=['é'])\n"),
        (
            "setup(dependency_links=['git+https://github.com/NVIDIA/apex#egg=apex', 'b'])\n",
            "setup(dependency_links=['b'])\n",
        ),
    ],
)
def test_lists_of_a_setup_py(old: str, new: str) -> None:
    assert setup_py(old) == new
    ast.parse(new)
    assert setup_py(new) == new


@pytest.mark.parametrize(
    "text",
    [
        "setup(packages=['apex'])\n",
        "setup(packages=find_packages(exclude=['apex', 'tests']))\n",
        "setup(name='apex')\n",
        "setup(keywords=['apex'], install_requires=['torch'])\n",
        "setup(install_requires=['apexcharts', 'torch'])\n",
        "setup(install_requires='torch apex'.split())\n",
        "setup(install_requires='torch\\napex')\n",
        "setup(install_requires=['torch' 'apex'])\n",
        "setup(classifiers=['apex'])\n",
        "names = ['apex']\n",
        "subprocess.check_call([sys.executable, '-m', 'pip', 'install', 'git+https://github.com/NVIDIA/apex'])\n",
        "os.system('pip install git+https://github.com/NVIDIA/apex')\n",
        "setup(install_requires=['apex'\n",  # does not parse
        "install_requires = [*others, name('apex')]\n",
        "setup(package_data={'apex': ['csrc/*.cpp']})\n",
        "setup(ext_modules=[CUDAExtension('apex', ['apex'])])\n",
    ],
)
def test_what_stays_of_a_setup_py(text: str) -> None:
    assert setup_py(text) == text


def test_a_command_in_setup_py_is_told() -> None:
    text = "subprocess.check_call([sys.executable, '-m', 'pip', 'install', 'git+https://github.com/NVIDIA/apex'])\n"
    assert [(one.about, one.line, one.cut) for one in setups.look(text)] == [(About.INSTALLS, 1, None)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "[options]\ninstall_requires =\n    torch\n    apex\n    tqdm\n",
            "[options]\ninstall_requires =\n    torch\n    tqdm\n",
        ),
        (
            "[options.extras_require]\nfp16 =\n    apex @ git+https://github.com/NVIDIA/apex\n",
            "[options.extras_require]\nfp16 =\n",
        ),
        ("[options]\r\ninstall_requires =\r\n\tapex\r\n\ttorch\r\n", "[options]\r\ninstall_requires =\r\n\ttorch\r\n"),
    ],
)
def test_lists_of_a_setup_cfg(old: str, new: str) -> None:
    assert left(old, inis.look(old)) == new


@pytest.mark.parametrize(
    "text",
    [
        "[options]\ninstall_requires = torch; apex\n",
        "[options]\npackages =\n    apex\n",
        "[metadata]\nname = apex\n",
        "[metadata]\nkeywords =\n    apex\n",
        "[mypy-apex.*]\nignore_missing_imports = True\n",
        "[isort]\nknown_third_party =\n    apex\n",
        "[options]\ninstall_requires =\n    apexcharts\n",
        "[options]\n# install_requires =\n#    apex\n",
    ],
)
def test_what_stays_of_a_setup_cfg(text: str) -> None:
    assert left(text, inis.look(text)) == text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('[project]\ndependencies = ["torch", "apex"]\n', '[project]\ndependencies = ["torch"]\n'),
        ('[project]\ndependencies = ["apex", "torch"]\n', '[project]\ndependencies = ["torch"]\n'),
        ('[project]\ndependencies = ["apex"]\n', "[project]\ndependencies = []\n"),
        (
            '[project]\ndependencies = [\n  "torch", # it\n  "apex @ git+https://github.com/NVIDIA/apex", # fp16\n]\n',
            '[project]\ndependencies = [\n  "torch", # it\n]\n',
        ),
        (
            "[project.optional-dependencies]\r\nfp16 = ['apex']\r\n",
            "[project.optional-dependencies]\r\nfp16 = []\r\n",
        ),
        ('[build-system]\nrequires = ["setuptools", "apex"]\n', '[build-system]\nrequires = ["setuptools"]\n'),
        ('[dependency-groups]\ntrain = ["torch",\n  "apex"]\n', '[dependency-groups]\ntrain = ["torch"]\n'),
        (
            '[tool.poetry.dependencies]\ntorch = "*"\napex = {git = "https://github.com/NVIDIA/apex"}\ntqdm = "*"\n',
            '[tool.poetry.dependencies]\ntorch = "*"\ntqdm = "*"\n',
        ),
        (
            '[project]\ndependencies = ["apex"]\n[tool.uv.sources]\napex = {git = "https://github.com/NVIDIA/apex"}\n',
            "[project]\ndependencies = []\n[tool.uv.sources]\n",
        ),
        ('[packages]\napex = "*"\ntorch = "*"\n', '[packages]\ntorch = "*"\n'),
        (
            '[project]\nx = """\napex\n"""\ndependencies = ["apex"]\n',
            '[project]\nx = """\napex\n"""\ndependencies = []\n',
        ),
    ],
)
def test_lists_of_a_pyproject_toml(old: str, new: str) -> None:
    assert left(old, tomls.look(old)) == new
    assert left(new, tomls.look(new)) == new


@pytest.mark.parametrize(
    "text",
    [
        '[project]\nname = "apex"\n',
        '[project]\nkeywords = ["apex"]\n',
        '[project]\ndependencies = ["apexcharts"]\n',
        '[project]\ndependencies = ["torch"] # not apex\n',
        '[tool.mypy]\nexclude = ["apex"]\n',
        '[[tool.mypy.overrides]]\nmodule = ["apex.*"]\n',
        '[tool.isort]\nknown_third_party = ["apex"]\n',
        '[tool.setuptools]\npackages = ["apex"]\n',
        '[tool.poetry.dependencies.apex]\ngit = "https://github.com/NVIDIA/apex"\n',
        '[project]\ndependencies = ["apex"\n',  # does not parse
        '[project]\ndependencies = "apex"\n',
        '[project]\ndescription = """\ndependencies = ["apex"]\n"""\n',
        "[tool.thing]\napex = true\n",
    ],
)
def test_what_stays_of_a_pyproject_toml(text: str) -> None:
    assert left(text, tomls.look(text)) == text
