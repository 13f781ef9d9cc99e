"""What is left of a condition once Apex is no longer asked for."""

from __future__ import annotations

import pytest

from migrate.units.conditions import FALSE, TRUE, Term, conjunction, negation
from tests.asking import asked, context

TOP = "import argparse\nfrom apex import amp\n"
TRIED = "try:\n    from apex import amp\n    HAS = True\nexcept ImportError:\n    HAS = False\n"
MORE = TRIED.replace("    HAS = True", "    import apex.contrib.xentropy\n    HAS = True")
PART = TRIED.replace("    HAS = True", "    from apex.optimizers import FusedAdam\n    HAS = True")

TERMS = {
    "a name": ("ask(fp16)", "fp16"),
    "an attribute": ("ask(args.fp16)", "args.fp16"),
    "a call over two lines": ("ask(on(\n  1))", "on( 1)"),
    "a comparison": ("ask(a > 1)", "a > 1"),
    "anything else": ("ask(a if b else c)", "(a if b else c)"),
    "a constant": ("ask(True)", "True"),
    "no bool": ("ask(1)", "(1)"),
    # not
    "not": ("ask(not a)", "not a"),
    "not not": ("ask(not not a)", "a"),
    "not True": ("ask(not True)", "False"),
    "not a comparison": ("ask(not a == 1)", "a != 1"),
    "not another": ("ask(not a > 1)", "not a > 1"),
    "not None": ("ask(not a is None)", "a is not None"),
    "not of two": ("ask(not (a and b))", "not (a and b)"),
    "not of a call's comparison": ("ask(not f(x) == 1)", "not f(x) == 1"),
    # and, or
    "and": ("ask(a and b)", "a and b"),
    "and with or": ("ask(a and (b or c))", "a and (b or c)"),
    "or with and": ("ask(a or b and c)", "a or b and c"),
    "twice the same": ("ask(a and b and a)", "a and b"),
    "and True": ("ask(a and True)", "a"),
    "and False": ("ask(a and False)", "False"),
    "or True": ("ask(a or True)", "True"),
    "or False": ("ask(a or False)", "a"),
    "False or False": ("ask(False or False)", "False"),
    "either way": ("ask(a or not a)", "True"),
    # Apex
    "amp": (TOP + "ask(amp)", "True"),
    "a function that always says yes": ("def is_main():\n    return True\nask(is_main())", "is_main()"),
    "a name of it": (TOP + "ask(amp.initialize)", "amp.initialize"),
    "not amp": (TOP + "ask(not amp)", "False"),
    "amp is None": (TOP + "ask(amp is None)", "False"),
    "amp is not None": (TOP + "ask(amp is not None)", "True"),
    "amp == None": (TOP + "ask(amp == None)", "False"),
    "amp != None": (TOP + "ask(amp != None)", "True"),
    "amp is something": (TOP + "ask(amp is other)", "amp is other"),
    "and amp": (TOP + "ask(a and amp is not None)", "a"),
    "hasattr": (TOP + "ask(hasattr(amp, 'initialize'))", "True"),
    "in its names": (TOP + "ask('scale_loss' in dir(amp))", "True"),
    "not in its names": (TOP + "ask('scale_loss' not in amp.__dict__)", "False"),
    "a name of torch's": (TOP + "ask(hasattr(amp, 'autocast'))", "hasattr(amp, 'autocast')"),
    "by its name": (TOP + "ask(a and getattr(amp, 'state_dict', None) is not None)", "a"),
    "of its names": (TOP + "ask(a and amp.__dict__.get('state_dict') is not None)", "a"),
    "none of its names": (TOP + "ask(vars(amp).get('state_dict') is None)", "False"),
    "is it something": (TOP + "ask(amp.__dict__.get('x') == y)", "amp.__dict__.get('x') == y"),
    "in other names": (TOP + "ask('x' in dir(args))", "'x' in dir(args)"),
    "under a condition": ("if fp16:\n    from apex import amp\nask(amp)", "amp"),
    "or None": ("try:\n    from apex import amp\nexcept ImportError:\n    amp = None\nask(amp)", "True"),
    "None first": ("amp = None\nif fp16:\n    from apex import amp\nask(amp is not None)", "amp is not None"),
    "or something else": ("try:\n    from apex import amp\nexcept ImportError:\n    amp = other()\nask(amp)", "amp"),
    # flags
    "a flag beside what has no counterpart": (MORE + "ask(HAS)", "HAS"),
    "a flag beside a part that is used": (PART + "ask(HAS)\nFusedAdam()", "True"),
    "a flag beside a part that nothing uses": (PART + "ask(HAS)", "HAS"),
    "a flag beside a part of another name": (PART.replace("FusedAdam", "FusedAdam as A") + "ask(HAS)\nA()", "True"),
    "a flag": (TRIED + "ask(HAS)", "True"),
    "not there": (TRIED + "ask(a and not HAS)", "False"),
    "a default above": (
        "HAS = False\ntry:\n    import apex\n    HAS = True\nexcept ImportError:\n    pass\nask(HAS)",
        "True",
    ),
    "a default that falls": (
        "HAS = True\ntry:\n    import apex\nexcept ImportError:\n    HAS = False\nask(HAS)",
        "True",
    ),
    "the other way": ("try:\n    import apex\n    NO = False\nexcept ImportError:\n    NO = True\nask(NO)", "False"),
    "in its else": (
        "try:\n    import apex\nexcept ImportError:\n    HAS = False\nelse:\n    HAS = True\nask(HAS)",
        "True",
    ),
    "set again": (TRIED + "HAS = HAS and fp16\nask(HAS)", "HAS"),
    "set again to a constant": (TRIED + "HAS = False\nask(HAS)", "HAS"),
    "no bool either": ("try:\n    import apex\n    V = 1\nexcept ImportError:\n    V = 0\nask(V)", "V"),
    "set in globals()": (TRIED + "globals()['HAS'] = fp16\nask(HAS)", "HAS"),
    "set in globals() by any name": (TRIED + "globals()[key] = fp16\nask(HAS)", "HAS"),
    "another set in globals()": (TRIED + "globals()['GPU'] = 0\nask(HAS)", "True"),
    "globals() told over": (TRIED + "globals().update(config)\nask(HAS)", "HAS"),
    "set in a module": (TRIED + "import engine\nengine.HAS = fp16\nask(HAS)", "HAS"),
    "set in a module's names": (TRIED + "import engine\nengine.__dict__[key] = fp16\nask(HAS)", "HAS"),
    "an attribute of that name": (TRIED + "class A:\n  def f(self):\n    self.HAS = 0\nask(HAS)", "True"),
    "set by setattr": (TRIED + "import engine\nsetattr(engine, 'HAS', fp16)\nask(HAS)", "HAS"),
    "another set by setattr": (TRIED + "setattr(engine, 'GPU', fp16)\nask(HAS)", "True"),
    "set by exec": (TRIED + "exec('HAS = False')\nask(HAS)", "HAS"),
    "set by an unknown exec": (TRIED + "exec(open('configurator.py').read())\nask(HAS)", "HAS"),
    "another set by exec": (TRIED + "exec('import os')\nask(HAS)", "True"),
    "found, and set in a module": ("HAS = find_spec('apex') is not None\nengine.HAS = 0\nask(HAS)", "HAS"),
    "of another name": (TRIED + "def f(HAS):\n    ask(HAS)", "HAS"),
    "under a condition too": (
        "if a:\n    try:\n        import apex\n        HAS = True\n    except E:\n        HAS = False\nask(HAS)",
        "HAS",
    ),
    "found": ("import importlib\nHAS = importlib.util.find_spec('apex') is not None\nimport apex\nask(HAS)", "True"),
    "asked for by name": ("def is_installed(n): ...\nHAS = is_installed('apex')\nimport apex\nask(HAS)", "True"),
    "another asked for": ("def is_installed(n): ...\nHAS = is_installed('deepspeed')\nimport apex\nask(HAS)", "HAS"),
    "asked in place": ("from x import module_available\nimport apex\nask(a and module_available('apex'))", "a"),
    "a path of that name": ("import os, apex\nask(os.path.exists('apex'))", "os.path.exists('apex')"),
    "imported by name": ("HAS = import_module('apex')\nimport apex\nask(HAS)", "HAS"),
    "another found": ("HAS = find_spec('other') is not None\nimport apex\nask(HAS)", "HAS"),
    "asked for": ("import apex\nask(find_spec('apex') is None)", "False"),
}


@pytest.mark.parametrize("case", TERMS)
def test_term(case: str) -> None:
    text, answer = TERMS[case]
    ctx = context(text)
    (question,) = asked(ctx.m)
    assert ctx.conditions.term(question).text == answer


OPTIONS = "p = argparse.ArgumentParser()\np.add_argument('--fp16', action='store_true')\np.add_argument('--level')\n"
STR2BOOL = """\
def str2bool(v):
    if isinstance(v, bool):
        return v
    if v.lower() in ("yes", "true"):
        return True
    elif v.lower() in ("no", "false"):
        return False
    else:
        raise argparse.ArgumentTypeError("a bool is wanted")
"""
BOOLS = {
    "a constant": ("ask(True, 1, None)", [True, False, False]),
    "comparisons": ("ask(a > 1, not a, a and b, a > 1 or not b)", [True, True, False, True]),
    "arms": ("ask(True if a else False, True if a else 1)", [True, False]),
    "calls": ("ask(bool(a), f(a), isinstance(a, b))", [True, False, True]),
    "a variable": ("x = a > 1\ny = a\nask(x, y, z)", [True, False, False]),
    "set twice": ("x = True\nx = f()\nask(x)", [False]),
    "a loop's": ("for x in y:\n    ask(x)", [False]),
    "options": (OPTIONS + "ask(args.fp16, args.level, args.other)", [True, False, False]),
    "an option given twice": (OPTIONS + "p.add_argument('--fp16', type=int)\nask(args.fp16)", [False]),
    "an option's own name": (
        "p.add_argument('-f', '--use-amp', action='store_true')\nask(a.use_amp, a.f)",
        [True, False],
    ),
    "of another name": ("p.add_argument('--f', dest='amp', action='store_true')\nask(a.amp, a.f)", [True, False]),
    "a type": (
        "p.add_argument('--f', type=bool, default=False)\np.add_argument('--g', type=bool, required=True)\n"
        "p.add_argument('--h', type=bool)\np.add_argument('--i', type=bool, default=None)\nask(a.f, a.g, a.h, a.i)",
        [True, True, False, False],
    ),
    "a flag with a default": (
        "p.add_argument('--f', action='store_true', default=None)\n"
        "p.add_argument('--g', action='store_true', default=False)\n"
        "p.add_argument('--h', action='store_false', default=environ)\nask(a.f, a.g, a.h)",
        [False, True, False],
    ),
    "a type and how often": (
        "p.add_argument('--f', type=bool, nargs='?', const=True, default=False)\n"
        "p.add_argument('--g', type=bool, nargs='?', default=False)\n"
        "p.add_argument('--h', type=bool, nargs='+', default=False)\n"
        "p.add_argument('--i', type=bool, action='append', default=False)\n"
        "p.add_argument('--j', type=bool, required=False)\nask(a.f, a.g, a.h, a.i, a.j)",
        [True, False, False, False, False],
    ),
    "a type of the file": (
        STR2BOOL + "p.add_argument('--f', type=str2bool, default=True)\np.add_argument('--g', type=str2bool)\n"
        "ask(a.f, a.g)",
        [True, False],
    ),
    "a type that may fall through": (
        "def flag(v):\n    if v == 'yes':\n        return True\np.add_argument('--f', type=flag, default=True)\n"
        "ask(a.f)",
        [False],
    ),
    "a type that is not known": ("p.add_argument('--f', type=flag, default=True)\nask(a.f)", [False]),
    "an argument of a program's own function": (
        OPTIONS + "def f(x, y):\n    ask(x, y)\nif __name__ == '__main__':\n    f(args.fp16, args.level)",
        [True, False],
    ),
    "an argument of anybody's function": (OPTIONS + "def f(x):\n    ask(x)\nf(args.fp16)", [False]),
    "an argument of a function handed on": (
        OPTIONS + "def f(x):\n    ask(x)\nif __name__ == '__main__':\n    f(args.fp16)\n    spawn(f)",
        [False],
    ),
    "an argument by a splat": (
        OPTIONS + "def f(x):\n    ask(x)\nif __name__ == '__main__':\n    f(args.fp16)\n    f(*a)",
        [False],
    ),
    "an attribute": (
        "class C:\n    def __init__(self, x):\n        self.a = x > 1\n        self.b = x\n"
        "    def f(self):\n        ask(self.a, self.b)",
        [True, False],
    ),
    "an attribute that is an option too": (
        OPTIONS + "class C:\n    def __init__(self, x):\n        self.fp16 = x\n    def f(self, a):\n"
        "        ask(self.fp16, a.fp16)",
        [False, True],
    ),
    "an annotated parameter": ("def f(x: bool, y: int):\n    ask(x, y)", [True, False]),
    "a default": ("def f(x=False):\n    ask(x)\nf()\nf(x=a > 1)", [True]),
    "a default that nobody calls": ("def f(x=False):\n    ask(x)", [False]),
    "another is handed in": ("def f(x=False):\n    ask(x)\nf(x=a)", [False]),
    "by position": ("def f(x=False):\n    ask(x)\nf(a)", [False]),
    "by a splat": ("def f(x=False):\n    ask(x)\nf(**a)", [False]),
    "a keyword's default": ("def f(*, x=False):\n    ask(x)\nf()", [True]),
    "a default that is none": ("def f(x=0):\n    ask(x)\nf()", [False]),
    "round and round": ("x = y\ny = x\nask(x)", [False]),
}


@pytest.mark.parametrize("case", BOOLS)
def test_is_a_bool(case: str) -> None:
    text, answer = BOOLS[case]
    ctx = context(text)
    assert [ctx.conditions.is_bool(question) for question in asked(ctx.m)] == answer


def test_terms() -> None:
    a, b = Term("a"), Term("b")
    assert conjunction([]) == TRUE
    assert conjunction([a, TRUE, a]) == a
    assert conjunction([Term("x != 'O0'"), Term('x != "O0"')]).text == "x != 'O0'"
    assert conjunction([a, FALSE, b]) == FALSE
    assert conjunction([a, Term("b or c", 1)]).text == "a and (b or c)"
    assert negation(negation(a)) == a
    assert negation(TRUE) == FALSE and negation(FALSE) == TRUE
    assert not conjunction([a, b]).boolean
    assert conjunction([Term("a", boolean=True), Term("b", boolean=True)]).boolean
