"""What is written reads as people write it: no half lines, no comments that lost their statement, no round trips."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TOP = """\
import torch
from apex import amp

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
"""
LOOP = """\
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
"""
AUTOCAST = 'torch.autocast("cuda", dtype=torch.float16)'


def written(text: str) -> str:
    new = migrate_module(text, Settings()).new_text
    assert new is not None
    return new


#: What shares a line, behind the training, and what becomes of it.
ONE_LINE = {
    "a header": (
        "with torch.no_grad(): total += model(x).sum()\n",
        f"with torch.no_grad(), {AUTOCAST}:\n    total += model(x).sum()\n",
    ),
    "a note behind it": (
        "with torch.no_grad():  total += model(x).sum()  # all of it\n",
        f"with torch.no_grad(), {AUTOCAST}:\n    total += model(x).sum()  # all of it\n",
    ),
    "a header and more": (
        "with torch.no_grad(): print(x.shape); total += model(x).sum(); print(1)\n",
        f"with torch.no_grad():\n    print(x.shape)\n    with {AUTOCAST}:\n        total += model(x).sum()\n"
        "    print(1)\n",
    ),
    "an else": (
        "if y: print(1)\nelse: print(2); total += model(x).sum()\n",
        f"else:\n    print(2)\n    with {AUTOCAST}:\n        total += model(x).sum()\n",
    ),
    "what stands before": ("x = x.cuda(); out = model(x)\n", f"x = x.cuda()\nwith {AUTOCAST}:\n    out = model(x)\n"),
    "what stands behind": ("out = model(x); print(x)\n", f"\nwith {AUTOCAST}:\n    out = model(x)\nprint(x)\n"),
}


@pytest.mark.parametrize("case", ONE_LINE)
def test_what_shares_a_line(case: str) -> None:
    text, answer = ONE_LINE[case]
    assert written(TOP + LOOP + text).endswith(answer)


TRAINER = '''\
class Trainer:
    def __init__(self, model, optimizer):
        from apex import amp

        self.amp = amp
        self.model, self.optimizer = amp.initialize(model, optimizer, opt_level="O1")

    def train(self, loader, criterion):
        for x, y in loader:
            self.optimizer.zero_grad()
            loss = criterion(self.model(x), y)
            with self.amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
            self.optimizer.step()
'''


def test_torch_is_imported_two_lines_above_a_class() -> None:
    assert written(TRAINER).startswith("import torch\n\n\nclass Trainer:\n")
    assert written('"""Trains."""\n\n\n' + TRAINER).startswith('"""Trains."""\n\n\nimport torch\n\n\nclass Trainer:\n')


def test_torch_is_imported_a_line_above_anything_else() -> None:
    assert written("RATE = 1\n\n\n" + TRAINER).startswith("import torch\n\nRATE = 1\n")


FLAG = """\
import sys
import torch

try:
    sys.path.append("{path}")
    from apex import amp

    there = True
except:
    print("no mixed precision")
    there = False

"""


def test_the_way_to_apex_goes_with_it() -> None:
    text = TOP.replace("import torch\nfrom apex import amp\n\n", "") + LOOP
    assert written(FLAG.format(path="./apex") + text).startswith("import torch\n\nmodel = ")
    assert 'sys.path.append("./libs")\n' in written(FLAG.format(path="./libs") + text)
    other = FLAG.format(path="./apex").replace("    there = True\n", "    import fused\n    there = True\n")
    assert 'sys.path.append("./apex")\n' in written(other + text)


PAIR = """\
import torch
from apex import amp


def train(x, net, critic, opt_net, opt_critic, fp16=False):
    loss = criterion(net(x))
    opt_net.zero_grad()
    with amp.scale_loss(loss, opt_net) as scaled_loss:
        scaled_loss.backward()
    opt_net.step()
    loss = criterion(critic(x))
    opt_critic.zero_grad()
    with amp.scale_loss(loss, opt_critic) as scaled_loss:
        scaled_loss.backward()
    opt_critic.step()


net, critic = build().cuda(), build().cuda()
opt_net = torch.optim.SGD(net.parameters(), lr=0.1)
opt_critic = torch.optim.SGD(critic.parameters(), lr=0.1)
[net, critic], [opt_net, opt_critic] = amp.initialize([net, critic], [opt_net, opt_critic], opt_level="O1")
for x in loader:
    train(x, net, critic, opt_net, opt_critic, True)
    train(x, net, critic, opt_critic=opt_critic, opt_net=opt_net)
"""


def test_the_scaler_does_not_part_two_optimizers() -> None:
    new = written(PAIR)
    assert "def train(x, net, critic, opt_net, opt_critic, scaler, fp16=False):" in new
    assert "train(x, net, critic, opt_net, opt_critic, scaler, True)" in new
    assert "train(x, net, critic, opt_critic=opt_critic, scaler=scaler, opt_net=opt_net)" in new


def test_it_stands_beside_one_that_something_else_follows() -> None:
    text = PAIR.replace("opt_net, opt_critic,", "opt_net, x, opt_critic,").replace("def train(x,", "def train(z,")
    new = written(text)
    assert "opt_net, scaler, x, opt_critic, fp16=False):" in new


KEPT = """\
import torch
from apex import amp


class Trainer:
    def __init__(self, model, optimizer):
        self.model = model
        self.optimizers = {"model": optimizer}
        self.init_amp()

    def init_amp(self):
        model, optimizer = amp.initialize(self.model, self.optimizers["model"], opt_level="O1")
        self.model = model
        self.optimizers["model"] = optimizer
        print("ready")

    def train(self, loader, criterion):
        optimizer = self.optimizers["model"]
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(self.model(x), y)
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            optimizer.step()


model = build().cuda()
trainer = Trainer(model, torch.optim.SGD(model.parameters(), lr=0.1))
trainer.train(load(), build_criterion())
"""
ROUND_TRIP = 'model, optimizer = self.model, self.optimizers["model"]\n'


def test_what_goes_back_where_it_came_from_goes() -> None:
    left = '    def init_amp(self):\n        self.scaler = torch.amp.GradScaler("cuda")\n        print("ready")\n'
    assert left in written(KEPT)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('print("ready")', "print(optimizer)"),  # somebody else asks for it
        ("self.model = model\n        self.optimizers[", "self.net = model\n        self.optimizers["),
        ('["model"] = optimizer\n', '["other"] = optimizer\n'),
        ("    def init_amp", "    def __setattr__(self, name, value):\n        print(name)\n\n    def init_amp"),
    ],
)
def test_what_does_more_stays(old: str, new: str) -> None:
    assert ROUND_TRIP in written(KEPT.replace(old, new))


CLIPPED = TOP + """\
for i, (x, y) in enumerate(loader):
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()

    # clip what was summed up
    torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)

    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
"""


def test_a_comment_goes_along_with_a_clip_that_moves() -> None:
    new = written(CLIPPED)
    assert new.count("# clip what was summed up") == 1
    assert "        # clip what was summed up\n        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n" in new


def test_none_goes_where_the_step_has_no_line_of_its_own() -> None:
    new = written(CLIPPED.replace("0:\n        optimizer.step()\n       ", "0: optimizer.step();"))
    assert "    # clip what was summed up\n" in new
    assert "# clip what was summed up\n        torch.nn" not in new


def test_a_long_condition_of_a_static_scale_is_said_once() -> None:
    static = 'if args.scale == 0:\n    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")\n'
    static += 'else:\n    model, optimizer = amp.initialize(model, optimizer, opt_level="O1", loss_scale=args.scale)\n'
    text = "args = parse()\n" + TOP.replace(TOP.splitlines(keepends=True)[-1], static) + LOOP
    new = written(text)
    assert 'static_scale = args.scale != 0 and args.scale not in (None, "dynamic")\n' in new
    assert new.count('not in (None, "dynamic")') == 1
    assert "if static_scale:\n" in new


@pytest.mark.parametrize(
    ("comment", "goes"),
    [
        ("#fp16", True),
        ("# fp16", True),
        ("# FIXME scaling for every loss", True),
        ("#net = build()", False),
        ("#half of them", False),
        ("####### fp16 #######", False),
        ("# build the net first:\n# amp needs it", False),
    ],
)
def test_comments_above_an_import_that_goes(comment: str, goes: bool) -> None:
    guard = "try:\n    from apex import amp\nexcept ImportError:\n    print('no fp16')\n"
    text = TOP.replace("from apex import amp\n", f"{comment}\n{guard}") + LOOP
    assert (comment not in written(text)) is goes


def test_no_blank_line_is_left_below_a_header_with_a_comment() -> None:
    head = "for x, y in loader:  # epoch\n    from apex import amp\n\n    print(x)\n"
    text = LOOP.replace("for x, y in loader:\n", head)
    assert "in loader:  # epoch\n    print(x)\n" in written(TOP + text)


def test_what_comes_beside_the_statement_of_a_one_line_suite_gets_lines_with_it() -> None:
    """``if clip: scaler.unscale_(optimizer); clip_grad_norm_(…)`` came out on one line, too long and hard to see."""
    clip = "    if clip: torch.nn.utils.clip_grad_norm_(model.parameters(), clip)  # at times\n    optimizer.step()\n"
    assert (
        "    if clip:\n"
        "        scaler.unscale_(optimizer)\n"
        "        torch.nn.utils.clip_grad_norm_(model.parameters(), clip)  # at times\n"
        "    scaler.step(optimizer)\n"
    ) in written(TOP + LOOP.replace("    optimizer.step()\n", clip))
    step = "    if due: optimizer.step()\n    if due: optimizer.zero_grad()\n"
    once = LOOP.replace("    optimizer.zero_grad()\n", "").replace("    optimizer.step()\n", step)
    assert "    if due:\n        scaler.step(optimizer)\n        scaler.update()\n" in written(TOP + once)


def test_a_level_in_a_format_string_needs_no_parentheses() -> None:
    text = TOP.replace('opt_level="O1"', "opt_level=f'O{level}'") + LOOP
    assert "enabled=f'O{level}' != \"O0\")" in written(text)


def test_autocast_joins_a_block_without_gradients_that_is_all_of_a_region() -> None:
    """What it computes goes into the loss, so the block as a whole is marked, not what stands in it."""
    arc = "    with torch.no_grad():\n        seen, _ = arc(x)\n        other, _ = arc(y)\n    y = y.cuda()\n"
    loss = "    near, _ = arc(model(x))\n    loss = torch.cosine_similarity(seen + other, near, dim=1).mean()\n"
    text = TOP.replace("optimizer =", "arc = Arc().cuda()\noptimizer =", 1) + LOOP.replace(
        "    loss = criterion(model(x), y)\n", loss
    ).replace("    optimizer.zero_grad()\n", arc + "    optimizer.zero_grad()\n")
    assert f"    with torch.no_grad(), {AUTOCAST}:\n        seen, _ = arc(x)\n" in written(text)
