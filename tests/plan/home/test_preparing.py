"""Networks that are initialized one by one in a loop or a comprehension, ahead of training."""

from __future__ import annotations

from textwrap import dedent

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings, Severity

BEGIN = """\
import torch
from apex import amp


def main(data, args):
    nets = [torch.nn.Linear(4, 3) for _ in range(args.count)]
    opts = [torch.optim.SGD(n.parameters(), lr=0.1) for n in nets]
"""
TRAIN = """\
    for x in data:
        for net, opt in zip(nets, opts):
            loss = net(x).pow(2).mean()
            opt.zero_grad()
            with amp.scale_loss(loss, opt) as scaled:
                scaled.backward()
            opt.step()
"""
MADE = '    scaler = torch.amp.GradScaler("cuda")\n'
GONE = {  # nothing is left of the loop
    "by number": "for k in range(args.count):\n    nets[k], opts[k] = INIT(nets[k], opts[k])",
    "of a list": "for k in range(len(nets)):\n    nets[k], opts[k] = INIT(nets[k], opts[k])",
    "enumerated": "for k, _ in enumerate(nets):\n    nets[k], opts[k] = INIT(nets[k], opts[k])",
    "what the loop hands out": "for k, (n, o) in enumerate(zip(nets, opts)):\n    nets[k], opts[k] = INIT(n, o)",
}
STAYS = {  # with something in it, or instead of it
    "something else": (
        "for k in range(args.count):\n    nets[k].train()\n    nets[k], opts[k] = INIT(nets[k], opts[k])",
        "    for k in range(args.count):\n        nets[k].train()\n" + MADE,
    ),
    "a name that is read behind it": (
        "for k in range(args.count):\n    nets[k], opts[k] = INIT(nets[k], opts[k])\nprint(k)",
        "    for k in range(args.count):\n        pass\n" + MADE + "    print(k)\n",
    ),
    "what it goes over is used up": (
        "for k, n in enumerate(args.take()):\n    nets[k], opts[k] = INIT(nets[k], opts[k])",
        "    for k, n in enumerate(args.take()):\n        pass\n" + MADE,
    ),
    "pairs": (
        "pairs = [INIT(n, o) for n, o in zip(nets, opts)]\nnets, opts = zip(*pairs)",
        "    pairs = [(n, o) for n, o in zip(nets, opts)]\n" + MADE,
    ),
    "other items": (
        "for k, n in enumerate(nets):\n    nets[k - 1], opts[k - 1] = INIT(n, opts[k - 1])",
        "    for k, n in enumerate(nets):\n        nets[k - 1] = n\n" + MADE,
    ),
}


def text(prepare: str) -> str:
    lines = [f"    {line}" for line in prepare.replace("INIT", "amp.initialize").splitlines()]
    return BEGIN + "\n".join(lines) + "\n" + TRAIN


@pytest.mark.parametrize("prepare", GONE.values(), ids=GONE)
def test_one_scaler_takes_the_place_of_a_loop(prepare: str) -> None:
    result = migrate_module(text(prepare), Settings())
    assert [unit.applicability for unit in result.units] == [Applicability.SAFE]
    assert result.new_text is not None and BEGIN.replace("from apex import amp\n", "") + MADE in result.new_text


@pytest.mark.parametrize(("prepare", "wanted"), STAYS.values(), ids=STAYS)
def test_what_else_a_loop_does_stays(prepare: str, wanted: str) -> None:
    result = migrate_module(text(prepare), Settings())
    assert [unit.applicability for unit in result.units] == [Applicability.SAFE]
    assert result.new_text is not None and wanted in result.new_text


def test_the_scale_moves_in_each_round_that_has_its_backward() -> None:
    result = migrate_module(text(GONE["by number"]), Settings())
    wanted = """\
            scaler.scale(loss).backward()
            scaler.step(opt)
            scaler.update()
    """
    assert result.new_text is not None and dedent(wanted) in dedent(
        result.new_text[result.new_text.index("            scaler.scale") :]
    )
    assert not [f for f in result.findings if f.rule == "APX060"]


def test_a_guard_that_asks_for_the_round_is_no_matter_of_all() -> None:
    """The scaler is switched off until a round asks for it, as Apex was."""
    prepare = (
        "for k in range(args.count):\n    if k == args.special:\n        nets[k], opts[k] = INIT(nets[k], opts[k])"
    )
    result = migrate_module(text(prepare), Settings())
    assert result.new_text is None or "enabled=False" in result.new_text


OBJECTS = """\
import torch
from apex import amp


class Member:
    def __init__(self, lr):
        self.net = torch.nn.Linear(4, 2)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=lr)
        self.net, self.opt = amp.initialize(self.net, self.opt, opt_level="O1")

    def fit(self, x):
        loss = self.net(x).pow(2).mean()
        self.opt.zero_grad()
        with amp.scale_loss(loss, self.opt) as scaled:
            scaled.backward()
        self.opt.step()


def main(data, rates):
"""
SIDE_BY_SIDE = {
    "a list": "members = [Member(lr) for lr in rates]\nfor x in data:\n    for one in members:\n        one.fit(x)",
    "a loop": "own = []\n"
    "for lr in rates:\n    own.append(Member(lr))\nfor x in data:\n    for one in own:\n        one.fit(x)",
    "two": "one, other = Member(0.1), Member(0.2)\nfor x in data:\n    one.fit(x)\n    other.fit(x)",
    "two lines": "one = Member(0.1)\nother = Member(0.2)\nfor x in data:\n    one.fit(x)\n    other.fit(x)",
}
ONE_BY_ONE = {
    "folds": "for lr in rates:\n    one = Member(lr)\n    for x in data:\n        one.fit(x)",
    "one": "one = Member(0.1)\nfor x in data:\n    one.fit(x)",
    "one behind the other": "one = Member(0.1)\none.fit(data)\nother = Member(0.2)\nother.fit(data)",
    "either": "if rates:\n    one = Member(0.1)\nelse:\n    one = Member(0.2)\none.fit(data)",
}


def objects(main: str) -> tuple[list[Applicability], list[str]]:
    result = migrate_module(OBJECTS + "\n".join(f"    {line}" for line in main.splitlines()) + "\n", Settings())
    said = [f.message for f in result.findings if f.severity is Severity.REVIEW]
    return [unit.applicability for unit in result.units], said


@pytest.mark.parametrize("main", SIDE_BY_SIDE.values(), ids=SIDE_BY_SIDE)
def test_objects_that_train_side_by_side_shared_a_scale(main: str) -> None:
    grades, said = objects(main)
    assert grades == [Applicability.REVIEW]
    assert len(said) == 1 and said[0].startswith("each object of Member has a GradScaler of its own")


@pytest.mark.parametrize(
    ("scale", "said"), [("128.0", False), ("'dynamic'", True), ("128.0 if lr else 'dynamic'", True)]
)
def test_a_scale_that_does_not_move_is_shared_by_all(scale: str, said: bool) -> None:
    text = OBJECTS.replace('opt_level="O1"', f'opt_level="O1", loss_scale={scale}')
    text += "".join(f"    {line}\n" for line in SIDE_BY_SIDE["two lines"].splitlines())
    messages = [one.message for one in migrate_module(text, Settings()).findings]
    assert any("has a GradScaler of its own" in one for one in messages) is said


@pytest.mark.parametrize("main", ONE_BY_ONE.values(), ids=ONE_BY_ONE)
def test_objects_one_behind_the_other_began_anew(main: str) -> None:
    assert objects(main) == ([Applicability.SAFE], [])
