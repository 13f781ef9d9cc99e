"""What is made of something that a migration gave another value is another value, though nobody follows how."""

from __future__ import annotations

import textwrap

import pytest

from migrate.judge.program.hanging import plainly
from migrate.judge.terms import NONE, TRUE
from migrate.judge.verdict import Verdict
from tests.judge.support import judged_case, verdict_of
from tests.judge.test_refining import END, HEAD, NEW, OLD

ASKS = "if {}:\n    optimizer.zero_grad()\n"
TUPLE = "import collections\nConfig = collections.namedtuple('Config', 'n flag')\n"
DATA = "import dataclasses\n@dataclasses.dataclass\nclass Config:\n    n: int\n    flag: bool\n"
OWN = "class Config:\n    def __init__(self, flag):\n        self.flag = flag\n"
SETS = "def put(run, x):\n    run{} = x\n"

# A statement that sets a flag (FLAG), what asks for it, and what else the file has.
FORMS = {
    "by vars": ("args.flag = FLAG", "vars(args)['flag']", ""),
    "by __dict__": ("args.flag = FLAG", "args.__dict__['flag']", ""),
    "by vars, with get": ("args.flag = FLAG", "vars(args).get('flag')", ""),
    "one of a list": ("flag = FLAG", "any([flag, args.other])", ""),
    "one of a list by name": ("run = [FLAG]", "any(run)", ""),
    "all of a list": ("run = [FLAG, 1]", "all(run)", ""),
    "one of a generator": ("run = [FLAG]", "any(x for x in run)", ""),
    "a condition of a comprehension": ("flag = FLAG", "[x for x in (1, 2) if flag]", ""),
    "a sum": ("flag = FLAG", "sum([flag, 0])", ""),
    "a text": ("flag = FLAG", "'{}'.format(flag) == 'True'", ""),
    "a part of a text": ("flag = FLAG\nname = '-'.join(['x', str(flag)])", "'True' in name", ""),
    "its type": ("flag = FLAG", "type(flag) is int", ""),
    "a lambda": ("flag = FLAG\nask = lambda: flag", "ask()", ""),
    "a lambda's default": ("flag = FLAG\nask = lambda x=flag: x", "ask()", ""),
    "a function": ("flag = FLAG", "ask(flag)", "def ask(x):\n    y = not x\n    print(y)\n    return not y\n"),
    "arms of a function": ("flag = FLAG", "ask(flag)", "def ask(x):\n    if x:\n        return 1\n    return 0\n"),
    "a function of an object": ("args.flag = FLAG", "ask(args)", "def ask(x):\n    return 1 if x.flag else 0\n"),
    "a function elsewhere": ("flag = FLAG", "b(flag)", ""),
    "a function elsewhere, of an object": ("args.flag = FLAG", "b(args)", ""),
    "a function elsewhere, of several": ("run = [FLAG]", "b(*run)", ""),
    "a method elsewhere": ("flag = FLAG", "args.ask(flag)", ""),
    "keywords": ("kw = dict(flag=FLAG)", "dict(**kw)['flag']", ""),
    "keywords in a dictionary": ("kw = dict(flag=FLAG)\nrun = {**kw, 'n': 1}", "run['flag']", ""),
    "a copy": ("kw = dict(flag=FLAG)\nrun = dict(kw)", "run['flag']", ""),
    "an update": ("kw = dict(flag=FLAG)\nrun = {}\nrun.update(kw)", "run['flag']", ""),
    "the values of a dictionary": ("kw = dict(flag=FLAG)", "any(kw.values())", ""),
    "the items of a dictionary": ("kw = dict(flag=FLAG)", "[k for k, v in kw.items() if v]", ""),
    "set in a loop": ("kw = dict(flag=FLAG)\nfor k, v in kw.items():\n    setattr(args, k, v)", "args.flag", ""),
    "a namespace of keywords": ("kw = dict(flag=FLAG)\nrun = SimpleNamespace(**kw)", "run.flag", ""),
    "by a name in a variable": ("args.flag = FLAG\nk = 'flag'", "getattr(args, k)", ""),
    "by each name": ("args.flag = FLAG", "any(getattr(args, k) for k in ('flag', 'other'))", ""),
    "an attrgetter": ("args.flag = FLAG", "operator.attrgetter('flag')(args)", ""),
    "a partial": ("flag = FLAG\nask = functools.partial(b, flag)", "ask()", ""),
    "a partial of its own": ("flag = FLAG\nask = functools.partial(own, flag)", "ask()", "def own(x):\n    return x\n"),
    "a named tuple": ("run = Config(1, FLAG)", "run.flag", TUPLE),
    "an item of a named tuple": ("run = Config(1, FLAG)", "run[1]", TUPLE),
    "a named tuple's dictionary": ("run = Config(1, FLAG)", "run._asdict()['flag']", TUPLE),
    "a data class": ("run = Config(1, FLAG)", "run.flag", DATA),
    "a data class's dictionary": ("run = Config(1, FLAG)", "dataclasses.asdict(run)['flag']", DATA),
    "an object": ("run = Config(FLAG)", "run.flag", OWN),
    "an object's dictionary": ("run = Config(FLAG)", "vars(run)['flag']", OWN),
    "a property": (
        "run = Config(FLAG)",
        "run.on",
        OWN + "    @property\n    def on(self):\n        return self.flag\n",
    ),
    "a method": (
        "run = Config(FLAG)",
        "run.on()",
        OWN + "    def on(self):\n        print(1)\n        return self.flag\n",
    ),
    "a call": (
        "run = Config(FLAG)",
        "run()",
        OWN + "    def __call__(self):\n        print(1)\n        return self.flag\n",
    ),
    "__getattr__": ("run = Config(FLAG)", "run.x", OWN + "    def __getattr__(self, k):\n        return self.flag\n"),
    "an environment variable": ("os.environ.setdefault('ON', str(FLAG))", "os.environ['ON'] == 'True'", ""),
    "getenv": ("os.environ['ON'] = str(FLAG)", "os.getenv('ON') == 'True'", ""),
    "a name of the file": ("global USED\nUSED = FLAG", "globals()['USED']", "USED = a()\n"),
    "a name of the function": ("flag = FLAG", "locals()['flag']", ""),
    "as json": ("args.flag = FLAG", "json.loads(json.dumps(vars(args)))['flag']", ""),
    "a copy of an object": ("args.flag = FLAG\nother = copy.copy(args)", "other.flag", ""),
    "tried": ("try:\n    flag = FLAG\nexcept ImportError:\n    flag = None", "flag", ""),
    "the first that holds": ("run = [FLAG]", "next((x for x in run if x), None)", ""),
    "mapped": ("run = [FLAG]", "list(map(bool, run))[0]", ""),
    "looked for in a loop": ("run = [FLAG]\nn = False\nfor x in run:\n    if x:\n        n = True", "n", ""),
    "a while": ("flag = FLAG\nn = 0\nwhile flag:\n    n = 1\n    break", "n", ""),
    "appended": ("run = []\nrun.append(FLAG)", "run[0]", ""),
    "appended in an arm": ("flag = FLAG\nrun = []\nif flag:\n    run.append('x')", "run", ""),
    "added to a set": ("run = set()\nrun.add(FLAG)", "True in run", ""),
    "a configuration": ("cfg = b(flag=FLAG)", "cfg.flag", ""),
    "told to an object": ("args.use(FLAG)", "args.flag", ""),
    "told to a parser": ("parser.set_defaults(flag=FLAG)\nopts = parser.parse_args([])", "opts.flag", ""),
    "by setattr": ("k = a()\nsetattr(args, k, FLAG)", "args.flag", ""),
    "by a method of its own": (
        "run = Config(1)\nrun.set(FLAG)",
        "run.flag",
        OWN + "    def set(self, x):\n        self.flag = x\n",
    ),
    "by a function": ("put(args, FLAG)", "args.flag", SETS.format(".flag")),
    "by a function, a key": ("put(args, FLAG)", "args['flag']", SETS.format("['flag']")),
    "by a function, of the file": ("put(FLAG)", "USED", "USED = a()\ndef put(x):\n    global USED\n    USED = x\n"),
    "a closure": ("ask = make(FLAG)", "ask()", "def make(x):\n    def inner():\n        return x\n    return inner\n"),
    "a generator": ("flag = FLAG", "next(ask(flag))", "def ask(x):\n    yield x\n"),
    "a coroutine": ("flag = FLAG", "asyncio.run(ask(flag))", "async def ask(x):\n    return x\n"),
    "a function that is chosen as it is defined": (
        "pass",
        "ask()",
        "USED = FLAG\nif USED:\n    def ask():\n        return 1\nelse:\n    def ask():\n        return 0\n",
    ),
    "of a class": (
        "pass",
        "Config.flag",
        "class Config:\n    if FLAG:\n        flag = 1\n    else:\n        flag = 0\n",
    ),
    "a member": ("pass", "Mode.X.value", "import enum\nclass Mode(enum.Enum):\n    X = FLAG\n"),
    "of a function": ("pass", "ask()", "def ask():\n    x = FLAG\n    print(x)\n    return x\n"),
    "a key of what a function gives": (
        "x = ask()",
        "x['flag']",
        "def ask():\n    print(1)\n    return {'flag': FLAG}\n",
    ),
    "whether it is there": ("if FLAG:\n    args.flag = 1", "hasattr(args, 'flag')", ""),
    "by a match": ("flag = FLAG\nmatch flag:\n    case True:\n        n = 1\n    case _:\n        n = 0", "n", ""),
    "level of a log": ("logger.setLevel(10 if FLAG else 30)", "logger.isEnabledFor(20)", ""),
    "in a queue": ("q.put(FLAG)", "q.get()", ""),
    "added to by an operator": ("x = args.x\nx |= FLAG", "x", ""),
    "in a block": ("with open(a()) as f:\n    flag = FLAG", "flag", ""),
    "put in a table by itself": ("flag = FLAG", "{True: 1}.get(flag)", ""),
}  # fmt: skip


def own(method: str, says: str) -> str:
    return f"{OWN}    def {method}:\n        return {says}\n"


RUN = "run = Config(FLAG)"
BY_THE_FILE = "USED = FLAG\nclass Config:\n    def __contains__(self, x):\n        return USED\n"
ENDS = "    def __exit__(self, *x):\n        pass\n"
TOLD = "def choose(on):\n    return lambda f: f if on else b\n@choose(FLAG)\n"
CHOSEN = "USED = FLAG\ndef two(*x):\n    return 0\ndef choose(f):\n    return f if USED else two\n"
FORMS |= {
    "__bool__": (RUN, "run", own("__bool__(self)", "self.flag")),
    "__bool__, turned round": (RUN, "not run", own("__bool__(self)", "self.flag")),
    "__len__": (RUN, "args.n or run", own("__len__(self)", "1 if self.flag else 0")),
    "__len__, asked": (RUN, "len(run)", own("__len__(self)", "1 if self.flag else 0")),
    "__eq__": (RUN, "run == 1", own("__eq__(self, x)", "self.flag == x")),
    "__contains__": ("run = Config()", "'x' in run", BY_THE_FILE),
    "__iter__": (RUN, "list(run)", own("__iter__(self)", "iter([1] if self.flag else [])")),
    "__enter__": (f"{RUN}\nwith run as x:\n    b()", "x", own("__enter__(self)", "self.flag") + ENDS),
    "__str__": (RUN, "f'{run}' == 'x'", own("__str__(self)", "'x' if self.flag else 'y'")),
    "a decorator that chooses": ("pass", "ask()", f"{CHOSEN}@choose\ndef ask():\n    return 1\n"),
    "a decorator that is told": ("pass", "ask()", f"{TOLD}def ask():\n    return 1\n"),
    "a decorator of a method": (
        "run = Config()",
        "run.ask()",
        f"{CHOSEN}class Config:\n    @choose\n    def ask(self):\n        return 1\n",
    ),
}


def with_flag(form: tuple[str, str, str], old: str, new: str) -> Verdict:
    setting, asked, more = form
    behind = textwrap.indent(f"{setting}\n{ASKS.replace('{}', asked)}", "    ")
    texts = (f"{HEAD}{body}{behind}\n\n{more}{END}".replace("FLAG", flag) for body, flag in ((OLD, old), (NEW, new)))
    return verdict_of(*texts)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_another_flag_is_another_answer(form: tuple[str, str, str]) -> None:
    assert [one.kind for one in with_flag(form, "False", "True").differences] == ["order"]


EXPRESSIONS = ["by vars", "a sum", "a function elsewhere", "as json", "an object", "__eq__", "of a function"]


@pytest.mark.parametrize("name", EXPRESSIONS)
@pytest.mark.parametrize("new", ["args.two", "args.one and args.two"])
def test_another_option_is_another_answer(name: str, new: str) -> None:
    assert with_flag(FORMS[name], "args.one", new).differences


@pytest.mark.parametrize("form", [*FORMS.values()][::3], ids=[*FORMS][::3])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("amp is not None", "True"),
        ("args.n > 3 and True", "args.n > 3"),
        ("True if amp else False", "True"),
        ("not (amp is None)", "True"),
        ("args.fp16", "args.fp16"),
    ],
)
def test_one_that_is_written_otherwise_is_the_same(form: tuple[str, str, str], old: str, new: str) -> None:
    assert not with_flag(form, old, new).differences


@pytest.mark.parametrize(
    "form",
    [
        ("args.flag = FLAG", "args.other", ""),
        ("flag = FLAG", "b(args.other)", ""),
        ("run = [FLAG]\nother = [a()]", "any(other)", ""),
        ("kw = dict(flag=FLAG, n=b())", "kw['n']", ""),
        ("print(args, FLAG)", "args.n", ""),
        ("flag = FLAG\nn = b()", "n is not None", ""),
        ("put(args, FLAG)", "args.other", SETS.format(".flag")),
        ("n = ask()", "args.other", "def ask():\n    x = FLAG\n    print(x)\n    return x\n"),
        ("n = FLAG\nn = a()", "b(n)", ""),
    ],
)
def test_what_does_not_hang_on_it_is_one_question(form: tuple[str, str, str]) -> None:
    assert not with_flag(form, "False", "True").differences


EVALUATES = "def evaluate(model):\n    with torch.no_grad():\n        print(nn.functional.mse_loss(model(x), y))\n"


@pytest.mark.parametrize(
    ("asks", "more"),
    [
        ("if flag:\n    evaluate(model)", EVALUATES),
        ("if any([flag]):\n    evaluate(model)", EVALUATES),
        ("for i in range(int(flag)):\n    clear(optimizer)", "def clear(one):\n    one.zero_grad()\n"),
        ("match flag:\n    case True:\n        optimizer.zero_grad()\n    case _:\n        pass", ""),
        ("while b(flag):\n    optimizer.zero_grad()", ""),
    ],
)
def test_what_it_decides(asks: str, more: str) -> None:
    behind = textwrap.indent(f"flag = FLAG\n{asks}", "    ")
    for new, differs in (("True", True), ("False", False)):
        flags = ((OLD, "False"), (NEW, new))
        texts = (f"{HEAD}{body}{behind}\n\n{more}{END}".replace("FLAG", flag) for body, flag in flags)
        assert ("order" in {one.kind for one in verdict_of(*texts).differences}) is differs


def test_a_function_that_clears_and_is_chosen_by_a_flag_is_not_followed() -> None:
    more = f"{CHOSEN}@choose\ndef clear(one):\n    one.zero_grad()\n"
    for new, known in (("True", False), ("False", True)):
        behind = "    clear(optimizer)\n"
        texts = (f"{HEAD}{body}{behind}\n\n{more}{END}".replace("FLAG", f) for body, f in ((OLD, "False"), (NEW, new)))
        assert (verdict_of(*texts).unknown is None) is known


ASKED_OF_THE_FILE = ('"amp" in globals()', 'globals().get("amp")', 'hasattr(sys.modules[__name__], "amp")')
OF_OTHERS = (
    'hasattr(torch.cuda, "amp")',
    'getattr(torch.cuda, "amp", None)',
    '"amp" in args',
    'b("amp")',
    '"amp" in args and "load_state_dict" in args.__dict__',
)


@pytest.mark.parametrize("asked", [*ASKED_OF_THE_FILE, *OF_OTHERS, '"_amp_stash" in vars(optimizer)'])
def test_a_name_that_the_file_has_no_more(asked: str) -> None:
    behind = textwrap.indent(ASKS.replace("{}", asked), "    ")
    case = judged_case(f"import sys\n{HEAD}{OLD}{behind}{END}")
    assert case is not None and bool(case.verdict.differences) is (asked not in OF_OTHERS)


def test_a_value_without_its_places() -> None:
    flag = ("attr", ("v", 7, "args"), "flag")
    assert plainly(flag) == plainly(("attr", ("v", 9, "args"), "flag"))
    assert plainly(("and", flag, TRUE)) == plainly(flag) != plainly(("and", flag, NONE))
    assert plainly(("apex", "amp")) == TRUE and plainly(("scaler", 1)) is None
    assert plainly(("dict", (("n", TRUE), ("m", ("scaler", 1))))) == ("seq", (TRUE, NONE))


# What the new text leaves out of the old one, and what asks for something that it is made of.
OF_APEX_ALONE = {
    "a flag that is off where there is no Apex": (
        "args.flag = args.amp\nif not importlib.util.find_spec('apex'):\n    args.flag = False",
        "args.flag = args.amp",
        "any([args.flag])",
        ("", ""),
    ),
    "a parameter that only Apex asked for": (
        "n = track(a(), True)",
        "n = track(a())",
        "b(n)",
        ("def track(x, delay):\n    print(x)\n    return x\n", "def track(x):\n    print(x)\n    return x\n"),
    ),
    "the same by its name": (
        "n = track(a(), delay=True)",
        "n = track(a())",
        "b(n)",
        ("def track(x, delay):\n    print(x)\n    return x\n", "def track(x):\n    print(x)\n    return x\n"),
    ),
    "a flag in the place of an import": (
        "if args.fp16:\n    from apex import amp as helper",
        "if args.fp16:\n    helper = True",
        "any([helper])",
        ("", ""),
    ),
}


def left_out(old: str, new: str, asked: str, more: tuple[str, str]) -> Verdict:
    asks = ASKS.replace("{}", asked)
    texts = (
        f"import importlib.util\n{HEAD}{body}" + textwrap.indent(f"{behind}\n{asks}", "    ") + f"\n\n{functions}{END}"
        for body, behind, functions in ((OLD, old, more[0]), (NEW, new, more[1]))
    )
    return verdict_of(*texts)


@pytest.mark.parametrize("case", OF_APEX_ALONE)
def test_what_only_apex_was_asked_for_is_no_other_flag(case: str) -> None:
    assert not left_out(*OF_APEX_ALONE[case]).differences


def test_a_flag_that_is_off_for_another_reason_is_another_one() -> None:
    old, new, asked, more = OF_APEX_ALONE["a flag that is off where there is no Apex"]
    assert left_out(old.replace("'apex'", "'numba'"), new, asked, more).differences
