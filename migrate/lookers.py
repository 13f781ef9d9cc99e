"""Which files have to do with gradients though they are not handed a model where it is trained: a callback, a logger,
what a registry makes. Between backward and step they look at gradients that are still scaled."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from .imports.tree import Imports
from .imports.ways import NAME, files_above, files_below
from .knowledge.gradients import steps

MOST_OF_A_NAME = 2  # functions that one name may mean, where names are all that is known
# A gradient by any of its names: ``p.grad``, ``p._grad``, ``getattr(p, "grad")``, ``case nn.Parameter(grad=g)``.
_NAMED_GRAD = rb"(?:\._?grad\b|[\"']_?grad[\"'])"
GRAD = rb"(?:" + _NAMED_GRAD + rb"|\bcase\b[^\n]{0,200}\b_?grad[ \t]{0,8}=)"
TRAINS_OR_LOOKS = re.compile(rb"\.backward\(|\bclip_grad|" + GRAD)
OPTIMIZER = re.compile(rb"\bclass[ \t]+\w+\([\w.]*Optimizer\)")
# Functions that look at gradients, and attributes that are asked for or called.
_LOOKS_AT = re.compile(rb"\bdef[ \t]+(\w+)\((?:(?!\bdef\b)[\s\S])*?" + GRAD)
# Of these the ones that do not train; and with those that clip.
_WITHOUT_TRAINING = rb"\bdef[ \t]+(\w+)\((?:(?!\bdef\b|\.backward\(|\.step\()[\s\S])*?"
_MAKES_OF = re.compile(_WITHOUT_TRAINING + GRAD)
_OR_CLIPS = rb"(?:\bclip_grad|" + GRAD + rb")"
_ONLY_LOOKS_AT = re.compile(_WITHOUT_TRAINING + _OR_CLIPS)
CLIPS_OR_LOOKS = re.compile(rb"\bdef[ \t]+(\w+)\((?:(?!\bdef\b)[\s\S])*?" + _OR_CLIPS)
# What a loop goes through, what is called of a name, or asked of it by a name that is not written; texts of one word.
_EACH = re.compile(rb"\bfor[ \t]+(\w[\w, \t()]{0,200}?)[ \t]+in\b")
_CALLED_OF = re.compile(rb"(?<![\w.])(\w+(?:\.\w+)?)\(")
_ASKED_BY_NAME = re.compile(rb"\bgetattr\(\s*(\w+)\s*,\s*[A-Za-z_]")
_TEXT = re.compile(rb"[\"'](\w+)[\"']")
_ITERATES = re.compile(rb"\bdef[ \t]+__iter__\(")
# Decorators with what they decorate; calls with the last name that they are handed, or a lambda with gradients in it.
_DECORATES = re.compile(
    rb"^[ \t]*@[ \t]*([\w.]+[^\n]*\n(?:[ \t]*@[^\n]*\n)*[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+\w+)", re.MULTILINE
)
_HANDS = re.compile(
    rb"((?<![\w.])[\w.]+\((?:[^()]{0,500}[,=])?\s{0,80}(?:(?:functools\.)?partial\(\s{0,80})?"
    rb"[\w.]+(?=\s{0,80}[,)])"
    rb"|(?<![\w.])[\w.]+\([^\n]{0,100}\blambda\b[^\n]{0,100}" + _NAMED_GRAD + rb")"
)
_ATTRIBUTE = re.compile(rb"\.(\w+)\b(?![ \t]*=[^=])")
_METHOD = re.compile(rb"\.(\w+)\(")
_OF_NETWORKS = frozenset("train eval forward".split())  # `model.train()`, whatever a trainer's own does


def asking(beside: Iterable[str], imports: Imports) -> set[str]:
    """Files that ask, by a name that few functions have, for what a function makes of gradients, and those that call
    these: a logger that is told of a step and shows ``self.trainer.grad_norm``."""
    below = files_below(list(beside), imports)
    telling = _dispatching(below, _looking(below, imports), imports)
    looking = {name for one in below for name in imports.words(_MAKES_OF, one) if not steps(name)}
    if not looking:
        return telling
    found = set[str]()
    defined = Counter(name for one in below for name in imports.defined(one))
    for _ in range(2):
        looking = {name for name in looking if defined[name] <= MOST_OF_A_NAME and not name.startswith("__")}
        more = {one for one in below if looking & imports.words(_ATTRIBUTE, one)} - found
        found |= more
        looking = {name for one in more for name in imports.defined(one)}
    return found | telling


def _dispatching(below: Sequence[str], looking: frozenset[str], imports: Imports) -> set[str]:
    """Files that tell each of several objects of something by a name that a method has which looks at gradients, or
    calls what does: ``for hook in self.hooks: hook.after(self)``, ``getattr(hook, name)(self)``; those with such
    methods, and with what may be gone through so."""
    methods = {one: _told_of(one, looking, imports) for one in below}
    names = frozenset[str]().union(*methods.values())
    if not names:
        return set()
    spelled = any(not names.isdisjoint(imports.words(_TEXT, one)) for one in below)
    found = set[str]()
    for one in below:
        each = {name for turned in imports.words(_EACH, one) for name in re.findall(r"\w+", turned)}
        called = {pair.partition(".") for pair in imports.words(_CALLED_OF, one)} if each else set()
        told = {name or "__call__" for owner, _, name in called if owner in each}
        told |= names if spelled and not each.isdisjoint(imports.words(_ASKED_BY_NAME, one)) else set()
        if told := told & names:
            found |= {one, *(x for x, said in methods.items() if not said.isdisjoint(told))}
            found |= {x for x in (*imports.imported(one), *imports.through(one)) if imports.words(_ITERATES, x)}
    return found


def _calling(location: str, names: frozenset[str], imports: Imports) -> Iterator[str]:
    """The functions of a file that call some, and do not train."""
    if not imports.words(NAME, location).isdisjoint(names):
        for one in imports.outline(location).functions:
            if not one.apart and any(called.rpartition(".")[2] in names for called in one.called):
                yield one.name


def _told_of(location: str, looking: frozenset[str], imports: Imports) -> frozenset[str]:
    """The methods of a file that look at gradients, or call a function that does."""
    if imports.words(OPTIMIZER, location) or imports.words(NAME, location).isdisjoint(looking):
        return frozenset()
    methods = [one for cls in imports.outline(location).classes for one in cls.methods.values()]
    return frozenset(
        one.name
        for one in methods
        if one.name in looking & imports.words(_ONLY_LOOKS_AT, location)
        or (not one.apart and any(called.rpartition(".")[2] in looking for called in one.called))
    )


def _looking(files: Iterable[str], imports: Imports) -> frozenset[str]:
    """The functions of some files that look at gradients, or call one that does, and do not train."""
    files = list(files)
    looking = frozenset(name for one in files for name in imports.words(_ONLY_LOOKS_AT, one) if not steps(name))
    return looking | frozenset(name for one in files if looking for name in _calling(one, looking, imports))


def looking_methods(location: str, imports: Imports) -> frozenset[str]:
    """The methods that a file calls, as ``.name``, by whose name one of its process looks at gradients: of an object
    that came by way of a registry no more may be known."""
    called = imports.words(_METHOD, location)
    process = files_below(files_above([location], imports), imports) if called else []
    looking = _looking(process, imports)
    found = {name for one in process if looking for name in _told_of(one, looking, imports)}
    return frozenset(f".{name}" for name in found & called if not name.startswith("__") and name not in _OF_NETWORKS)


def kept_by(location: str, imports: Imports) -> set[str]:
    """The files from which a file has what decorates functions that look at gradients, or is handed them, and those
    that hand that name on: a bus, a registry. Whoever tells it of something may run them."""
    looking = {*imports.words(_LOOKS_AT, location), "grad"}
    if len(looking) == 1:
        return set()
    keepers = list[str]()
    for text in imports.words(_DECORATES, location):
        *decorators, made = text.split("\n")
        if made.split()[-1] in looking or made.split()[0] == "class":
            keepers += [one.strip("@ \t").partition("(")[0] for one in decorators]
    for text in imports.words(_HANDS, location):
        if re.split(r"\W", text)[-1] in looking:
            keepers.append(text.partition("(")[0])
    found = set[str]()
    todo = [(location, frozenset(part for one in keepers for part in one.split(".")))]
    while todo:
        at, names = todo.pop()
        for dotted, meant in imports.meant(at).items():
            module, _, last = dotted.rpartition(".")
            if last in names:
                files = {*(meant or imports.meant(at).get(module, []))} - {location, *found}
                found |= files
                todo += [(one, frozenset({last})) for one in sorted(files)]
    return found


def only_steps(location: str, users: Iterable[str], imports: Imports) -> bool:
    """Whether a file has the class of an optimizer: those read gradients for a living, and ``step`` says enough. One
    of which users call another method that does so (``opt.observe()``) has to be known."""
    if not imports.words(OPTIMIZER, location):
        return False
    looking = {name for name in imports.words(_LOOKS_AT, location) if not name.startswith("_") and not steps(name)}
    return not looking or not any(looking & imports.words(_ATTRIBUTE, one) for one in users)
