"""What a star hands to Apex is read as what is written out behind it, if that is the same where the call runs."""

from __future__ import annotations

import ast

import pytest

from migrate.facts.module import Module

CALL, SCALE = "amp.initialize(model, optimizer, opt_level='O1')", "amp.scale_loss(loss, optimizer)"
READ = {
    "model, optimizer = amp.initialize(*(model, optimizer), opt_level='O1')": CALL,
    "parts = (model, optimizer)\nmodel, optimizer = amp.initialize(*parts, opt_level='O1')": CALL,
    "parts = [model, optimizer]\nmodel, optimizer = amp.initialize(*parts, opt_level='O1')": CALL,
    "parts = model,\nmodel, optimizer = amp.initialize(*parts, optimizer, opt_level='O1')": CALL,
    "parts = (self.model, optimizer)\nx = amp.initialize(*parts)": "amp.initialize(self.model, optimizer)",
    "KIND = {'opt_level': 'O1'}\ndef f():\n    return amp.initialize(model, optimizer, **KIND)": CALL,
    "KIND = dict(opt_level='O1')\nprint(KIND['opt_level'])\nx = amp.initialize(model, optimizer, **KIND)": CALL,
    "pack = loss, optimizer\nprint(len(pack))\nwith amp.scale_loss(*pack) as s:\n    s.backward()": SCALE,
    "kw = {'optimizers': optimizer}\nwith amp.scale_loss(loss, **kw) as s:\n    s.backward()": (
        "amp.scale_loss(loss, optimizers=optimizer)"
    ),
}
KEPT = [
    "parts = (model, optimizer)\noptimizer = SGD()\nx = amp.initialize(*parts)",
    "parts = (model, optimizer)\nfor model in models:\n    x = amp.initialize(*parts)",
    "parts = (model, optimizer)\nwhile True:\n    x = amp.initialize(*parts)\n    optimizer = SGD()",
    "parts = (model, optimizer)\nparts = (model, other)\nx = amp.initialize(*parts)",
    "parts = (model, optimizer)\nf = lambda: amp.initialize(*parts)",
    "parts = [model, optimizer]\nparts[1] = other\nx = amp.initialize(*parts)",
    "parts = [model]\nparts.append(optimizer)\nx = amp.initialize(*parts)",
    "parts = [model, optimizer]\nfill(parts)\nx = amp.initialize(*parts)",
    "parts = (self.model, optimizer)\nself.build()\nx = amp.initialize(*parts)",
    "parts = (model, optimizer)\ndef f():\n    return amp.initialize(*parts)",
    "parts = (model, optimizer)\nswap()\nx = amp.initialize(*parts)\ndef swap():\n    global model",
    "pack = loss / 2, optimizer\nwith amp.scale_loss(*pack) as s:\n    s.backward()",
    "pack = loss, optimizer\nwith wrap() as loss, amp.scale_loss(*pack) as s:\n    s.backward()",
    "KIND = {'opt_level': 'O1'}\nKIND['opt_level'] = 'O2'\nx = amp.initialize(model, optimizer, **KIND)",
    "KIND = {'opt_level': 'O1'}\nKIND.update(more)\nx = amp.initialize(model, optimizer, **KIND)",
    "KIND = {'opt_level': 'O1'}\nalias = KIND\nx = amp.initialize(model, optimizer, **KIND)",
    "KIND = {'opt_level': 'O1'}\nx = amp.initialize(model, optimizer, opt_level='O1', **KIND)",
    "KIND = {'opt_level': pick()}\nx = amp.initialize(model, optimizer, **KIND)",
    "if big:\n    KIND = {'opt_level': 'O1'}\nx = amp.initialize(model, optimizer, **KIND)",
    "def f(KIND):\n    return amp.initialize(model, optimizer, **KIND)\nKIND = {'opt_level': 'O1'}",
]


@pytest.mark.parametrize("text", READ)
def test_read(text: str) -> None:
    m = Module(text + "\n")
    (call,) = [c for name in ("initialize", "scale_loss") for c in m.calls(name)]
    assert ast.unparse(call) == READ[text]
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    assert [m.src(one) for one in given] == [ast.unparse(one) for one in given]


@pytest.mark.parametrize("text", KEPT)
def test_kept(text: str) -> None:
    (call,) = [c for name in ("initialize", "scale_loss") for c in Module(text + "\n").calls(name)]
    assert "*" in ast.unparse(call)
