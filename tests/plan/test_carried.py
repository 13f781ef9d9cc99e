"""Amp as a value: who reads it, and what is asked of its state."""

from __future__ import annotations

import ast

import pytest

from migrate.plan.bare import state_kind, unresolved
from migrate.plan.carried import handed_for_state, holders, unknown_reader
from tests.asking import context

TOP = "from apex import amp\n"

#: What is done with amp, and a part of why a reader of it is not known ("" where all are).
READERS = {
    "amp.initialize(m)": "",
    "if amp: pass": "",
    "x = not amp": "",
    "x = amp is None": "",
    "x = amp == other": "is compared with something else",
    "x = amp in table": "is used in a way that is not followed",
    "x = amp": "",
    "x: object = amp": "",
    "x = amp\nx = 1": "",
    "x = amp\nx = f()": "may hold something else too",
    "x = amp\nfor x in y: pass": "may hold something else too",
    "x = amp\nwith f() as x: pass": "may hold something else too",
    "x = amp\nx += 1": "may hold something else too",
    "x = amp\n[x, y] = z": "may hold something else too",
    "x = amp if a else None": "",
    "x = amp or None": "",
    "x = (amp, 1)": "",
    "f(amp)": "which is not in this file",
    "f(x=amp)": "which is not in this file",
    "print(amp)": "which is not in this file",
    "bool(amp)": "",
    "hasattr(amp, 'initialize')": "",
    "hasattr(amp, 'autocast')": "which is not in this file",
    "if 'initialize' in vars(amp): pass": "",
    "if a and getattr(amp, 'state_dict', None): pass": "",
    "load = getattr(amp, 'load_state_dict', None)": "which is not in this file",
    "def f(x): pass\nf(amp)": "",
    "def f(x): pass\nf(x=amp)": "",
    "def f():\n    return amp\nf()": "",
    "def f():\n    return amp": "whose callers are not known",
    "class C:\n    @property\n    def a(self):\n        return amp": "",
    "class C:\n    pass\nc = C()\nc.a = amp": "",
    "args.amp = amp": "who reads it there is not known",
    "args = parse()\nargs.amp = amp": "",
    "args = parse()\nargs.amp = amp\nrun(args)": "is stored in args, which run() gets to see",
    "args = parse()\nargs.amp = amp\nprint(args)": "",
    "args = parse()\nargs.amp = amp\nrun(**args)": "",
    "def f(args):\n    args.amp = amp": "handed by callers that are not known",
    "def f():\n    d = {'amp': amp}\n    return d": "goes to callers that are not known",
    "d = dict(amp=amp)\nd['amp'].initialize(m)": "",
    "d = dict(amp=amp)\nrun(d)": "is stored in d, which run() gets to see",
    "SimpleNamespace(amp=amp)": "",
    "run(SimpleNamespace(amp=amp))": "which run() gets to see",
    "dict([('amp', amp)])['amp']": "which dict() gets to see",
    "run([('amp', amp)])": "which run() gets to see",
    "run({'parts': {'amp': amp}})": "which run() gets to see",
    "table = [('amp', amp)]\nfor name, one in table: one.initialize(m)": "",
    "table = [amp]\nrun(table)": "which run() gets to see",
    "table = []\ntable.append(amp)\nrun(table)": "which run() gets to see",
    "table = []\ntable.append(amp)": "",
    "class C(metaclass=amp): pass": "is part of a class definition",
    "del amp": "",
    "x[amp] = 1": "is used in a way that is not followed",
    "for amp.x in y: pass": "",
    "@dataclass\nclass C:\n    a: object\nC(amp)": "",
    "class C: pass\nC(amp)": "which is not in this file",
}


@pytest.mark.parametrize("text", READERS)
def test_who_reads_it(text: str) -> None:
    ctx = context(TOP + text)
    found = [why for node in holders(ctx) if (why := unknown_reader(ctx, node)) is not None]
    assert READERS[text] in found[0] if found else READERS[text] == ""
    assert bool(found) == bool(READERS[text])


def test_a_name_that_other_files_import() -> None:
    for exported, known in (("x", False), ("*", False), ("y", True), ("", True)):
        ctx = context(TOP + "x = amp", exported)
        (node,) = holders(ctx)
        assert (unknown_reader(ctx, node) is None) == known


STATE = {
    "apex.amp.state_dict": "state_dict",
    "apex.amp.frontend.load_state_dict": "load_state_dict",
    "apex.amp._amp_state.loss_scalers": "scalers",
    "apex.amp._amp_state.loss_scalers[]": "scaler",
    "apex.amp._amp_state.loss_scalers[].loss_scale": "scale",
    "apex.amp._amp_state._amp_state.loss_scalers[]._loss_scale": "scale",
    "apex.amp._amp_state.loss_scalers[]._unskipped": "other",
    "apex.amp._amp_state.opt_properties": None,
    "apex.amp.scale_loss": None,
}


@pytest.mark.parametrize("dotted", STATE)
def test_what_of_the_state(dotted: str) -> None:
    assert state_kind(dotted) == STATE[dotted]


#: A use of amp, and a part of why all units stay ("" where they need not).
RESOLVED = {
    "amp.state_dict()": "",
    "x = amp.state_dict": "is handed on as an object here",
    "x = amp.state_dict()['loss_scaler0']['loss_scale']": "",
    "x = amp.state_dict()['loss_scaler0']['unskipped']": "reads Apex's own entries",
    "x = amp.state_dict()['loss_scaler0']": "reads Apex's own entries",
    "s = amp.state_dict()\nprint(s['loss_scaler0'])": "reads Apex's own entries",
    "for e in amp.state_dict().values():\n    print(e['loss_scale'])": "",
    "for e in amp.state_dict().values():\n    print(e['unskipped'])": "reads Apex's own entries",
    "for e in amp.state_dict().values():\n    print(e)": "reads Apex's own entries",
    "x = [e['loss_scale'] for e in amp.state_dict().values()]": "",
    "x = saved['loss_scaler0']['loss_scale']": "",
    "x = saved['loss_scaler0']['other']": "is an entry of Apex's own state",
    "x = {'loss_scaler0': 1}": "is an entry of Apex's own state",
    "x = 'loss_scaler'": "",
    "x = 'my_loss_scaler0'": "",
    "x = amp._amp_state.loss_scalers[0].loss_scale()": "",
    "x = amp._amp_state.loss_scalers[0]._unskipped": "has no counterpart",
    "amp._amp_state.loss_scalers[0]._loss_scale = 1": "its scale is set here",
    "amp._amp_state.loss_scalers[0].other = 1": "other is set here",
    "for s in amp._amp_state.loss_scalers: pass": "",
    "for i, s in enumerate(amp._amp_state.loss_scalers): pass": "",
    "n = len(amp._amp_state.loss_scalers)": "",
    "x = amp._amp_state.loss_scalers": "has no counterpart",
    "f(amp._amp_state.loss_scalers[0])": "a loss scaler is handed on here",
    "amp.promote_function(f)": "apex.amp.promote_function has no counterpart",
    "@amp.float_function\ndef f(x): pass": "",
    "x = amp.float_function": "is handed on as an object here",
    "handle = amp.init()\nhandle.scale_loss(l, o)": "belongs to the old API",
    "handle = amp.init()\no = handle.wrap_optimizer(o)": "",
    "x = 'state_dict' in amp.__dict__": "",
    "x = a and amp.__dict__.get('state_dict') is not None": "",
    "x = amp.__dict__.get('state_dict')": "has no counterpart",
    "f(amp)": "amp is handed on as an object here",
}


@pytest.mark.parametrize("text", RESOLVED)
def test_what_has_a_counterpart(text: str) -> None:
    missing = unresolved(context(TOP + text))
    assert (missing is not None) == bool(RESOLVED[text])
    assert missing is None or RESOLVED[text] in missing.message


def test_advice_for_what_has_none() -> None:
    missing = unresolved(context(TOP + "amp.promote_function(f)"))
    assert missing is not None and missing.suggestion is not None and "widest" in missing.suggestion
    missing = unresolved(context(TOP + "amp.something(f)"))
    assert missing is not None and missing.suggestion is None and isinstance(missing.node, ast.expr)


#: A call that is handed amp, and whether it only asks for its state.
SAVED = {
    "save(path, amp)": True,
    "save(path, it=amp)": True,
    "save(path, amp if fp16 else None)": True,
    "save(amp, path)": False,
    "(save if a else keep)(path, amp)": True,
    "(save if a else show)(path, amp)": False,
    "save_checkpoint(path, amp)": True,
    "fit(path, amp)": False,
}


@pytest.mark.parametrize("call", SAVED)
def test_handed_on_for_its_state(call: str) -> None:
    text = "def save(path, it):\n    write(path, it.state_dict())\ndef keep(path, other):\n    other.state_dict()\n"
    text += "def show(it, other):\n    it.state_dict()\n    print(other)\n"
    ctx = context(TOP + text + call + "\n")
    (use,) = [n for n in ctx.m.nodes if isinstance(n, ast.Name) and n.id == "amp"]
    assert (handed_for_state(ctx, use) is not None) == SAVED[call]
