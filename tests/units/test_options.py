"""What the options of an initialize come to."""

from __future__ import annotations

import pytest

from migrate.units import options
from migrate.units.conditions import conjunction
from migrate.units.options import Options
from tests.asking import context

ARGPARSE = "p = ArgumentParser()\np.add_argument('--level', choices=['O0', 'O1'], default='O1')\n"


def read(call: str, above: str = "") -> Options:
    ctx = context(f"from apex import amp\n{above}amp.initialize(model, optimizer, {call})\n")
    (init,) = ctx.facts.initializes
    return options.read(ctx.m, ctx.conditions, init)


ENABLED = {
    "": "True",
    "opt_level='O1'": "True",
    "opt_level='O2'": "True",
    "opt_level='O0'": "False",
    "enabled=False": "False",
    "enabled=fp16": "fp16",
    "enabled=fp16, opt_level='O0'": "False",
    "opt_level=level": 'level != "O0"',
    "enabled=fp16, opt_level=level": 'fp16 and level != "O0"',
    "opt_level='O1' if fp16 else 'O0'": "fp16",
    "opt_level='O0' if cpu else 'O2'": "not cpu",
    "opt_level='O1' if fp16 else 'O2'": "True",
    "opt_level='O1' if fp16 else level": '(\'O1\' if fp16 else level) != "O0"',
    "opt_level='O' + str(n)": '(\'O\' + str(n)) != "O0"',
    "opt_level=('O' + a) + b": '((\'O\' + a) + b) != "O0"',
    "**kwargs": 'kwargs.get("enabled", True) and kwargs.get("opt_level", "O1") != "O0"',
    "opt_level='O1', **kwargs": "True",
}


@pytest.mark.parametrize("call", ENABLED)
def test_enabled(call: str) -> None:
    assert conjunction([term for _, term in read(call).enabled]).text == ENABLED[call]


LEVELS = {
    "": {"O1"},
    "'O2'": {"O2"},
    "'O1' if a else 'O0'": {"O0", "O1"},
    "level": {"?", "O1"},
    "one": {"O1"},
    "two": {"O1", "O2"},
    "args.level": {"O0", "O1"},
    "args.other": {"?", "O1"},
    "f()": {"?", "O1"},
}


@pytest.mark.parametrize("level", LEVELS)
def test_levels(level: str) -> None:
    above = ARGPARSE + "one = 'O1'\ntwo = 'O1'\nif a:\n    two = 'O2'\n"
    assert read(f"opt_level={level}" if level else "", above).levels == LEVELS[level]


def test_a_level_that_is_kept_under_its_own_name() -> None:
    above = ARGPARSE + "class T:\n    def __init__(self, args):\n        self.level = args.level\nself = T(args)\n"
    assert read("opt_level=self.level", above).levels == {"O0", "O1"}
    assert "?" in read("opt_level=self.level", above.replace(ARGPARSE, "args = f()\n")).levels
    round_about = "a.one = a.two\na.two = a.one\n"
    assert "?" in read("opt_level=a.one", round_about).levels


def test_a_level_that_is_set_on_the_options() -> None:
    assert read("opt_level=args.level", ARGPARSE + "args.level = 'O2'\n").levels == {"O0", "O1", "O2"}
    assert "?" in read("opt_level=args.level", ARGPARSE + "args.level = f()\n").levels
    assert "?" in read("opt_level=args.level", "p.add_argument('--level', default='O1')\n").levels


SCALES = {
    "": (None, None, False),
    "loss_scale='dynamic'": (None, None, False),
    "loss_scale=None": (None, None, False),
    "loss_scale=128.0": ("128.0", "True", False),
    "loss_scale='128'": ("128.0", "True", False),
    "loss_scale=1.0": (None, None, True),
    "opt_level='O3'": (None, None, True),
    "opt_level='O3', loss_scale='dynamic'": (None, None, False),
    "opt_level='O3', loss_scale=128.0": ("128.0", "True", False),
    "loss_scale=one": ("64.0", "True", False),
    "loss_scale=scale": ("float(scale)", 'scale not in (None, "dynamic")', False),
    "loss_scale=scale if a else 'dynamic'": ("float(scale)", "a", False),
    "loss_scale='dynamic' if a else scale": ("float(scale)", "not a", False),
    "loss_scale=8.0 if a else scale": (
        "float(8.0 if a else scale)",
        '(8.0 if a else scale) not in (None, "dynamic")',
        False,
    ),
}


@pytest.mark.parametrize("call", SCALES)
def test_loss_scale(call: str) -> None:
    found = read(call, "one = 64.0\n")
    when = None if found.static_when is None else found.static_when.text
    assert (found.scale, when, found.unscaled) == SCALES[call]


NAMED = {
    "opt_level='O1'": "",
    "opt_level='O2'": "O2 kept float16 weights",
    "opt_level='O3'": "O3 ran wholly in float16",
    "opt_level=level": "opt_level=level is decided at run time",
    "loss_scale=128.0": "a static loss scale of 128",
    "loss_scale=scale": "loss_scale=scale may be static",
    "opt_level='O2', loss_scale=1.0": "loss_scale=1.0 becomes autocast",
    "num_losses=1": "",
    "num_losses=2": "num_losses=2: Apex kept one loss scale per loss",
    "cast_model_outputs=torch.float16": "cast_model_outputs=torch.float16",
    "cast_model_outputs=None": "",
    "cast_model_type=torch.float16": "cast_model_type=torch.float16",
    "cast_model_type=torch.float32": "cast_model_type=torch.float32: Apex cast the model's output",
    "cast_model_type=False": "",
    "keep_batchnorm_fp32=False": "",
    "opt_level='O2', keep_batchnorm_fp32=False": "keep_batchnorm_fp32=False",
    "opt_level='O2', keep_batchnorm_fp32='False'": "keep_batchnorm_fp32=False",
    "opt_level='O2', keep_batchnorm_fp32=True": "O2 kept",
    "min_loss_scale=1.0": "min_loss_scale=1.0: GradScaler has no lower bound",
    "min_loss_scale=None": "",
    "max_loss_scale=2**20": "max_loss_scale=2**20: GradScaler has no upper bound",
    "verbosity=0": "",
    "**kwargs": "**kwargs: of these options",
}


@pytest.mark.parametrize("call", NAMED)
def test_differences(call: str) -> None:
    reviews = read(call).reviews
    assert any(one.startswith(NAMED[call]) for one in reviews) if NAMED[call] else not reviews
    if "keep_batchnorm_fp32=True" in call:
        assert len(reviews) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("default='O2'", "; by default (line 3) it is O2, whose float16 copies of the weights are gone"),
        ("default='O1'", "; by default (line 3) it is O1"),
        ("type=str", "every other level becomes what O1 was"),
        ("default=None", "every other level becomes what O1 was"),
    ],
)
def test_the_level_by_default(words: str, said: str) -> None:
    above = f"p = ArgumentParser()\np.add_argument('--level', {words})\nargs = p.parse_args()\n"
    (review,) = read("opt_level=args.level", above).reviews
    assert said in review and (said.startswith(";") or review.endswith(said))


def test_a_level_that_may_be_meant_is_no_level_that_was() -> None:
    above = ARGPARSE.replace("'O0', 'O1'", "'O1', 'O2'") + "args = p.parse_args()\n"
    (review,) = read("opt_level=args.level", above).reviews
    said = "opt_level=args.level is decided at run time; by default (line 3) it is O1; where it is O2: O2 kept"
    assert review.startswith(said)
    assert read("opt_level='O2'").reviews[0].startswith("O2 kept float16 weights")


@pytest.mark.parametrize(
    ("bound", "first"), [("2**10", "1024.0"), ("512.0", "512.0"), ("2**16", None), ("2**24", None), ("bound", None)]
)
def test_a_bound_below_the_first_scale(bound: str, first: str | None) -> None:
    assert read(f"max_loss_scale={bound}").init_scale == first


SAID = {
    "opt_level='O0', loss_scale='dynamic'": "scaled the loss at O0 as well",
    "opt_level='O1' if fp16 else 'O0', loss_scale='dynamic'": "scaled the loss at O0 as well",
    "opt_level='O1', loss_scale='dynamic'": None,
    "opt_level='O0'": None,
    "opt_level='O1', patch_torch_functions=False": "cast nothing",
    "opt_level='O1', patch_torch_functions=args.patch": "cast nothing",
    "opt_level='O1', patch_torch_functions=None": None,
    "opt_level='O1', patch_torch_functions=True": None,
    "opt_level='O1', cast_model_type=torch.float32": "cast the model's output to float32",
    "opt_level='O0', cast_model_type=torch.float32": None,
}


@pytest.mark.parametrize("call", SAID)
def test_what_apex_did_besides_is_named(call: str) -> None:
    said = SAID[call]
    reviews = read(call).reviews
    assert reviews == [] if said is None else any(said in one for one in reviews), reviews


GUARDS = {
    "if c.level == 'O1':": {"O1"},
    "if fp16 and 'O2' == c.level:": {"O2"},
    "if c.level in ('O1', 'O2'):": {"O1", "O2"},
    "if a:\n pass\nelif c.level == 'O1':": {"O1"},
    "if c.level == 'O1' or fp16:": {"?", "O1"},
    "if c.level != 'O0':": {"?", "O1"},
    "if d.level == 'O1':": {"?", "O1"},
    "if c.level == 'O1':\n c.level = f()": {"?", "O1"},
    "if c.level == 'O1':\n pass\nif fp16:": {"?", "O1"},
}


@pytest.mark.parametrize("guard", GUARDS)
def test_a_level_that_is_asked_for(guard: str) -> None:
    assert read("opt_level=c.level", f"{guard}\n ").levels == GUARDS[guard]
