"""Lists for pip: what is Apex, what is not, and what is left of the list."""

from __future__ import annotations

import pytest

from migrate.packaging import requirements
from migrate.packaging.mention import About
from migrate.packaging.texts import decode, without
from migrate.packaging.words import requirement


def fixed(text: str) -> str:
    return without(text, [one.cut for one in requirements.look(text) if one.cut is not None])


@pytest.mark.parametrize(
    "line",
    [
        "apex",
        "Apex",
        "apex==0.1",
        "apex == 0.1  # for fp16",
        "apex>=0.1,<1",
        "apex[amp]==0.1",
        'apex; python_version < "3.9"',
        "apex @ git+https://example.org/somebody/apex",
        "git+https://github.com/somebody/apex.git",
        "git+https://github.com/somebody/apex.git@master#egg=apex",
        "git+ssh://git@example.org/tools/thing.git#egg=apex",
        "-e ./apex",
        "-e apex",
        "--editable=./third_party/apex",
        "./apex",
        "../apex/",
        "/opt/apex",
        "file:///wheels/apex-0.1-cp38-cp38-linux_x86_64.whl",
        "https://example.org/wheels/apex-0.1+cu110-cp38-cp38-linux_x86_64.whl",
        "apex --hash=sha256:0123456789abcdef",
        "conda-forge::apex",
    ],
)
def test_requirements_that_are_apex_by_their_name(line: str) -> None:
    assert requirement(line) is False


@pytest.mark.parametrize(
    "line",
    [
        "nvidia-apex",
        "nvidia-apex==0.1",
        "conda-forge::nvidia-apex=0.1",
        "git+https://github.com/NVIDIA/apex",
        "git+https://github.com/NVIDIA/apex.git@22.04-dev#egg=apex",
        "git+git://github.com/nvidia/apex.git@9041a868#egg=apex",
        "git+ssh://git@github.com/NVIDIA/apex.git",
        "apex @ git+https://github.com/NVIDIA/apex",
        "apex@https://github.com/NVIDIA/apex/tarball/9ce0a10f",
        "https://github.com/NVIDIA/apex/archive/8a1ed9e8.zip",
        "-e git+https://github.com/NVIDIA/apex.git#egg=apex",
        'apex @ git+https://github.com/NVIDIA/apex ; sys_platform == "linux"',
    ],
)
def test_requirements_that_are_nvidias_for_sure(line: str) -> None:
    assert requirement(line) is True


@pytest.mark.parametrize(
    "line",
    [
        "",
        "# apex",
        "torch",
        "apexcharts",
        "apex-legends-api",
        "apex-sdk==1.0",
        "apex_utils",
        "apexpy",
        "py-apex",
        "oracle-apex",
        "salesforce-apex",
        "myapex==1.0",
        "-r apex/requirements.txt",
        "-r requirements-apex.txt",
        "-c constraints.txt",
        "git+https://github.com/somebody/apex-tools.git",
        "git+https://github.com/apex/up.git",
        "git+https://github.com/NVIDIA/apexlib.git",
        "git+https://github.com/NVIDIA/DeepLearningExamples.git",
        "-e ./apex/examples",
        "./apexlib",
        "wheel-apex-0.1.whl",
        "the apex of the list",
        "pip install apex",
        "torch @ https://example.org/apex/torch-1.0-cp38-cp38-linux_x86_64.whl",
        "git+https://example.org/apex/thing.git#egg=thing",
    ],
)
def test_what_is_no_requirement_of_apex(line: str) -> None:
    assert requirement(line) is None
    assert fixed(f"torch\n{line}\n") == f"torch\n{line}\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("torch\napex\ntqdm\n", "torch\ntqdm\n"),
        ("apex\ntorch\n", "torch\n"),
        ("torch\napex\n", "torch\n"),
        ("torch\r\napex==0.1\r\ntqdm\r\n", "torch\r\ntqdm\r\n"),
        ("torch\napex", "torch"),
        ("torch\r\napex", "torch"),
        ("apex", ""),
        ("apex\n", ""),
        ("torch\napex --hash=sha256:00 \\\n    --hash=sha256:11\ntqdm\n", "torch\ntqdm\n"),
        ("torch\n# NVIDIA apex\napex\ntqdm\n", "torch\ntqdm\n"),
        ("torch\n# for training\napex\ntqdm\n", "torch\n# for training\ntqdm\n"),
        ("torch\n\napex\n\ntqdm\n", "torch\n\ntqdm\n"),
        ("torch\n\napex\ntqdm\n", "torch\n\ntqdm\n"),
        ("apex\ngit+https://github.com/NVIDIA/apex\ntorch\n", "torch\n"),
        ("torch  # like apex\napex\n", "torch  # like apex\n"),
    ],
)
def test_what_is_left_of_a_list(old: str, new: str) -> None:
    assert fixed(old) == new
    assert fixed(new) == new


def test_comments_are_mentions_and_stay() -> None:
    text = "torch\n# git clone https://github.com/NVIDIA/apex && cd apex && pip install .\n# NVIDIA Apex (optional)\n"
    found = requirements.look(text)
    assert [(one.about, one.line, one.cut) for one in found] == [(About.INSTALLS, 2, None), (About.SPEAKS, 3, None)]


@pytest.mark.parametrize(
    "data",
    [
        b"torch\napex\n",
        b"\xef\xbb\xbftorch\r\napex\r\n",
        "torch\r\napex\r\n".encode("utf-16"),
        b"\xff\xfe" + "torch\napex\n".encode("utf-16-le"),
        b"\xfe\xff" + "torch\napex\n".encode("utf-16-be"),
        b"# na\xefve\napex\n",
    ],
)
def test_bytes_come_back_as_they_were(data: bytes) -> None:
    text = decode(data)
    assert text is not None
    assert text.encode(text.text) == data


@pytest.mark.parametrize("data", [b"a\0pex", b"\xff\xfea", b"\xef\xbb\xbf\xff"])
def test_what_is_no_text_is_left_alone(data: bytes) -> None:
    assert decode(data) is None
