"""What only a torch older than the target runs."""

from __future__ import annotations

import ast

import pytest

from migrate.model import Settings
from migrate.plan.backends.outdated import dead_arm, outdated
from tests.asking import context

#: Conditions, and which arm of theirs never runs with torch 2.4 or newer.
CONDITIONS = {
    'version.parse(torch.__version__) < version.parse("1.6")': "body",
    'version.parse(torch.__version__) <= version.parse("1.6.0")': "body",
    'version.parse(torch.__version__) >= version.parse("1.6")': "orelse",
    'version.parse(torch.__version__) > version.parse("1.6")': "orelse",
    'LooseVersion(torch.__version__) < LooseVersion("2.4")': "body",
    'LooseVersion(torch.__version__) == LooseVersion("1.5")': "body",
    'not version.parse(torch.__version__) >= version.parse("1.6")': "body",
    'args.fp16 and torch.__version__ < "1.6"': "body",
    'args.fp16 or torch.__version__ >= "1.6"': "orelse",
    # a newer torch may run either
    'version.parse(torch.__version__) < version.parse("2.5")': "",
    'version.parse(torch.__version__) <= version.parse("2.4")': "",
    'version.parse(torch.__version__) == version.parse("2.4")': "",
    # "2.10" < "2.4"
    'torch.__version__ < "2.4"': "",
    'torch.__version__ >= "2.0"': "",
    # something else is compared
    'version.parse(apex.__version__) < version.parse("1.6")': "",
    "version.parse(torch.__version__) < version.parse(args.least)": "",
    'args.fp16 or torch.__version__ < "1.6"': "",
}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_the_arm_that_never_runs(condition: str) -> None:
    wanted = CONDITIONS[condition]
    arms = {"body": ["from apex import amp\n    amp.initialize(m)", "pass"]}.get(
        wanted, ["pass", "from apex import amp\n    amp.initialize(m)"]
    )
    ctx = context(f"import torch\nif {condition}:\n    {arms[0]}\nelse:\n    {arms[1]}\n")
    (node,) = ctx.m.all(ast.If)
    assert outdated(ctx) == ([node] if wanted else [])
    assert not wanted or dead_arm(ctx, node) is getattr(node, wanted)


def test_an_older_target() -> None:
    text = 'import torch\nif torch.__version__ < "1.6":\n    from apex import amp\n    amp.initialize(m)\n'
    assert outdated(context(text))
    assert not outdated(context(text, settings=Settings(target_torch=(1, 5))))


FLAG = """
import torch
use_apex = False
{more}
if torch.__version__ < "1.6":
    from apex import amp
    use_apex = True
def train():
    {inner}
    if use_apex:
        amp.initialize(m)
"""


@pytest.mark.parametrize(
    ("more", "inner", "dead"),
    [
        ("", "pass", True),
        ("use_apex = args.apex", "pass", False),
        ("def choose():\n    global use_apex\n    use_apex = True", "pass", False),
        ("", "use_apex = torch.cuda.is_available()", False),
        ("from settings import use_apex", "pass", False),
        ("if args.apex:\n    use_apex = True", "pass", False),
        ("class Options:\n    use_apex = True", "pass", False),
    ],
)
def test_a_flag_that_is_set_there_alone(more: str, inner: str, dead: bool) -> None:
    assert bool(outdated(context(FLAG.format(more=more, inner=inner)))) is dead


PROBED = """
import torch
try:
    from apex import amp
    has_apex = True
except ImportError:
    has_apex = False

def is_apex_available():
    return has_apex

if torch.__version__ < "1.6":
    from apex import amp as old
    old.initialize(m)
"""


def test_an_import_that_only_asks_whether_apex_is_there() -> None:
    """It is no use that a newer torch comes to, unless its file reads the name or others take it."""
    assert outdated(context(PROBED))
    assert not outdated(context(f"{PROBED}\nprint(amp)\n"))
    assert not outdated(context(PROBED, exported="amp"))
    assert not outdated(context(PROBED.replace("try:", "if True:").replace("except ImportError:", "else:")))
