"""YAML: environments of conda, and everything else that is no list of packages."""

from __future__ import annotations

import pytest

from migrate.packaging import yamls
from migrate.packaging.mention import About
from migrate.packaging.texts import without

HEAD = "name: x\nchannels:\n  - pytorch\ndependencies:\n"


def fixed(text: str) -> str:
    return without(text, [one.cut for one in yamls.look(text) if one.cut is not None])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (HEAD + "  - pytorch\n  - nvidia-apex\n", HEAD + "  - pytorch\n"),
        (HEAD + "  - pytorch\n  - conda-forge::nvidia-apex=0.1\n  - pip\n", HEAD + "  - pytorch\n  - pip\n"),
        (HEAD + "- pytorch\n- apex=0.1=py36_0\n", HEAD + "- pytorch\n"),
        (
            HEAD + "  - pip:\n    - torch\n    - git+https://github.com/NVIDIA/apex\n",
            HEAD + "  - pip:\n    - torch\n",
        ),
        (HEAD + '  - pip:\n    - torch\n    - "apex==0.1"\n    - x\n', HEAD + "  - pip:\n    - torch\n    - x\n"),
        (HEAD + "  - pytorch\n  - apex  # fp16\nprefix: /opt/x\n", HEAD + "  - pytorch\nprefix: /opt/x\n"),
        ((HEAD + "  - a\n  - apex\n").replace("\n", "\r\n"), (HEAD + "  - a\n").replace("\n", "\r\n")),
        (HEAD + "  - a\n  - apex", HEAD + "  - a"),
    ],
)
def test_items_of_an_environment(old: str, new: str) -> None:
    assert fixed(old) == new
    assert fixed(new) == new


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "  - apex\n",  # nothing would be left of the list
        HEAD + "  - pip:\n    - apex\n",
        HEAD + "  - a\n  - pip:\n    - apex\n    - git+https://github.com/NVIDIA/apex.git\n",
        HEAD + "  - pytorch\n  - apexcharts\n",
        HEAD + "  - pytorch\n  # - apex\n",
        "name: apex\nchannels:\n  - apex\n  - x\ndependencies:\n  - pytorch\n",
        "dependencies:\n  - a\n  - apex\n",  # of whom, is not known
        "on: push\njobs:\n  build:\n    steps:\n      - apex\n      - x\n",
        "packages:\n  - a\n  - apex\n",
        "name: x\nchannels: [a]\ndependencies: [a, apex]\n",
        HEAD + "  - a\n  - apex: x\n",
        HEAD + "  - a\n  - apex\n    - x\n",
    ],
)
def test_what_stays(text: str) -> None:
    assert fixed(text) == text


def test_a_recipe_of_conda_is_told() -> None:
    found = yamls.look("package:\n  name: x\nrequirements:\n  run:\n    - apex\n    - y\nabout:\n  - apex\n")
    assert [(one.about, one.line, one.cut) for one in found] == [(About.REQUIRES, 5, None)]


def test_a_list_without_a_name_is_told() -> None:
    found = yamls.look("dependencies:\n  - python=3.8\n  - pip:\n    - torch\n    - apex\n")
    assert [(one.about, one.line, one.cut) for one in found] == [(About.REQUIRES, 5, None)]
    assert not yamls.look("dependencies:\n  - name: apex\n    version: 1.0\n")


def test_settings_of_a_configuration() -> None:
    text = "OPTIMIZER:\n  SYNC_BN_TYPE: apex\n  AMP_OPT_LEVEL: O1\n  _target_: apex.optimizers.FusedAdam\n"
    found = yamls.look(text)
    assert [(one.about, one.line, one.option, one.needs) for one in found] == [
        (About.OPTION, 2, "", False),
        (About.OPTION, 3, "amp_opt_level", False),
        (About.OPTION, 4, "", True),
    ]
