"""Commands, settings and words for people: what speaks of Apex, and what has only the word."""

from __future__ import annotations

import pytest

from migrate.packaging import lines
from migrate.packaging.mention import About


def of(text: str) -> list[tuple[About, bool]]:
    return [(one.about, one.sure) for one in lines.look(text)]


@pytest.mark.parametrize(
    "line",
    [
        "the apex of the triangle",
        "converging at the apex of the triangle to form an underpass",
        "n08677801\tvertex, peak, apex, acme",
        "apex",
        "Apex Legends tournament with torch",
        "apexcharts and pytorch",
        "import ApexCharts from 'apexcharts'; // gpu",
        "Oracle APEX and CUDA",
        "Salesforce Apex classes, half of them",
        "trigger.apex is installed",
        "https://apex.org/install",
        "apex.com sells GPUs",
        "cd apexlib",
        "cd my-apex-app",
        "pip install apex-sdk",
        "pip install apexcharts",
        "import charts, apexcharts",
        "build_apexes and install-apexcharts",
        "git clone https://github.com/somebody/apex-tools",
        "git clone https://github.com/apex/up",
        "--work-dir work_dirs/stylegan2_c2_apexlike",
        "gcc -O2 main.c",
        "CFLAGS=-O3",
        "optimization level O4",
        "Figure O1",
        "--loss-scale 0",
        "--loss-scaler 3",
        "--dur-predictor-loss 0.1",
        '"apex": 13451,',
        '{"14": "apex"}',
        "loss_scale: 0",
        "training with AMP O2 converges slower",
        "example.initialize()",
        "the lamp.initialize() call",
        "apex: 3",
        "",
    ],
)
def test_what_is_not_nvidias_apex(line: str) -> None:
    assert of(line) == []


@pytest.mark.parametrize(
    ("line", "about", "sure"),
    [
        ("git clone https://github.com/NVIDIA/apex", About.INSTALLS, True),
        ("git clone https://github.com/ptrblck/apex.git", About.INSTALLS, False),
        ("cd apex", About.INSTALLS, False),
        ("cd /tmp/apex && make", About.INSTALLS, False),
        ('pip install -v --global-option="--cpp_ext" --global-option="--cuda_ext" ./', About.INSTALLS, True),
        ("pip install git+https://github.com/NVIDIA/apex.git", About.INSTALLS, True),
        ("pip3 install apex", About.INSTALLS, False),
        ("conda install -c vissl apex", About.INSTALLS, False),
        ("\turl = https://github.com/NVIDIA/apex.git", About.INSTALLS, True),
        ("git submodule add https://github.com/NVIDIA/apex", About.INSTALLS, True),
        ("pip install $(grep -v apex requirements.txt)", About.SPEAKS, False),
        ("from apex import amp", About.SPEAKS, True),
        ("see https://nvidia.github.io/apex/amp.html", About.SPEAKS, True),
        ("NVIDIA's [Apex] library", About.SPEAKS, True),
        ("uses apex.parallel.DistributedDataParallel", About.SPEAKS, True),
        ("We use apex for mixed precision", About.SPEAKS, False),
        ("with amp.scale_loss(loss, optimizer) as scaled_loss:", About.SPEAKS, False),
        ("- Install `Apex`:", About.SPEAKS, False),
        ("[mypy-apex.*]", About.SPEAKS, False),
        ("python -c 'import torch, apex'", About.SPEAKS, False),
        ("FROM somebody/apex:latest", About.INSTALLS, False),
        ("bash ./docker/install_apex.sh", About.INSTALLS, False),
        ("# Only applicable for Apex AMP_TYPE.", About.SPEAKS, False),
        ('AMP_ARGS: {"opt_level": "O1"}', About.OPTION, False),
        ("python train.py --apex-amp", About.OPTION, False),
        ("python train.py --sync_bn apex \\", About.OPTION, False),
        ("python train.py --opt-level O1", About.OPTION, False),
        ("  --fp16_opt_level=O2 \\", About.OPTION, False),
        ("AMP_OPT_LEVEL: O1", About.OPTION, False),
        ('  "opt_level": "O1",', About.OPTION, False),
        ("--amp-opt-level O0", About.OPTION, False),
        ("Get [apex](https://github.com/NVIDIA/apex) for `--opt-level O1`.", About.SPEAKS, True),
        ("--fp16 O1", About.OPTION, False),
        ("--static-loss-scale 128", About.OPTION, False),
        ("APEX_BUILD=1", About.OPTION, False),
        ('apex_opt_level: ""', About.OPTION, False),
        ("use_apex: true", About.OPTION, False),
        ("python -m apex.parallel.multiproc main.py", About.OPTION, True),
    ],
)
def test_mentions(line: str, about: About, sure: bool) -> None:
    assert of(line) == [(about, sure)]


def test_a_text_about_it_may_use_the_word_alone() -> None:
    text = "Get it from https://github.com/NVIDIA/apex\n\nApex is fast.\nThe apex of speed.\n"
    assert [one.line for one in lines.look(text)] == [1, 3]


def test_data_speaks_only_where_it_is_unmistakable() -> None:
    text = "install apex with pytorch\nhttps://github.com/NVIDIA/apex\n--opt-level O1\n"
    assert [one.line for one in lines.look_at_data(text)] == [2]


def test_options_are_called_as_the_code_calls_them() -> None:
    named = [one.option for one in lines.look("--amp-opt-level O1\nTRAIN.AMP_OPT_LEVEL: O1\n--loss-scale=128\n")]
    assert named == ["amp_opt_level", "amp_opt_level", "loss_scale"]


def test_long_lines_take_no_time() -> None:
    words = "a_level" * 200_000 + " apex O1"
    assert of(words) == []
