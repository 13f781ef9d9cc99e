"""A condition that is written a second time has to answer the same: not one that takes something out (``pop``), asks a
person, a clock or a random number, or calls a function of the program that counts or prints. And what takes something
out goes on doing so where Apex's call, which it was an argument of, goes (``verbosity=options.pop("verbosity")``)."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set

from ..facts.names import last_name
from ..nodes import walk
from .compiles import parse
from .problem import Problem

CODE = "asked-again"
_DEFINED, _CALLED = re.compile(r"\bdef[ \t]+(\w+)"), re.compile(r"\b(\w+)\s*\(")
_Functions = Mapping[str, Sequence[ast.AST]]
# Calls that answer otherwise, or do something, each time.
_TAKES = frozenset("pop popleft popitem next get_nowait recv".split())
_DOES = frozenset("read readline readlines acquire append increment".split())
_ASKS = frozenset("input time time_ns perf_counter monotonic now today utcnow uuid4 token_hex urandom".split())
_DRAWS = frozenset(
    "rand randn randint randrange random uniform choice choices sample shuffle permutation integers getrandbits gauss "
    "normal bernoulli".split()
)
_EACH_TIME = _TAKES | _DOES | _ASKS | _DRAWS
_NAMES = _EACH_TIME | {"get"}
_SHOWS = frozenset("print info warning warn debug error exception".split())


def asked_otherwise(old_texts: Sequence[str], new_texts: Sequence[str]) -> tuple[int, Problem] | None:
    """The first call that a new text has more often than the old one, and that need not answer the same each time, or
    that takes something out and is in none any more, with the number of its file. Functions are found by their names
    in all files."""
    named = {name for text in old_texts for name in _DEFINED.findall(text)}
    pairs = [*enumerate(zip(old_texts, new_texts, strict=True))]
    changed = [number for number, (old, new) in pairs if old != new and _may_differ(old, new, named)]
    trees = [ast.parse(text) for text in old_texts] if changed else []  # as they are written
    functions: dict[str, list[ast.AST]] = defaultdict(list)
    for tree in trees:
        for node in walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                functions[node.name].append(node)
    for number in changed:
        new_tree = parse(new_texts[number])
        if new_tree is not None:  # else `compiles` says so
            old, new = ([*_calls(tree, named)] for tree in (trees[number], new_tree))
            if (problem := _asked_again(old, new, functions) or _taken_no_more(old, new, named)) is not None:
                return number, problem
    return None


def _may_differ(old: str, new: str, named: Set[str]) -> bool:
    """Whether such a call may have come or gone, by a look at the names ahead of parentheses."""
    before, after = (Counter(name for name in _CALLED.findall(text)) for text in (old, new))
    return any(after[name] > before[name] for name in (*_NAMES, *named)) or any(
        before[name] and not after[name] for name in _TAKES
    )


def _asked_again(old: list[ast.Call], new: list[ast.Call], functions: _Functions) -> Problem | None:
    known = Counter(ast.unparse(call.func) for call in old)  # arguments may come or go
    had = set(known)
    for call in new:
        func = ast.unparse(call.func)
        known[func] -= 1
        if func in had and known[func] < 0 and _differs(call, functions, frozenset()):
            said = f"`{ast.unparse(call)}` would be asked once more, and may answer or do something else then"
            return Problem(call.lineno, f"{said}: keep its answer under a name, and ask that", CODE)
    return None


def _taken_no_more(old: list[ast.Call], new: list[ast.Call], named: Set[str]) -> Problem | None:
    kept = {ast.unparse(call.func) for call in new}
    for call in old:
        takes = last_name(call.func) in _TAKES - named
        if takes and ast.unparse(call.func) not in kept:
            said = f"`{ast.unparse(call)}` would not be called any more, and what it takes out stays"
            return Problem(call.lineno, f"{said}: keep it under a name", CODE)
    return None


def _calls(tree: ast.AST, named: Set[str]) -> Iterator[ast.Call]:
    """The calls that may answer otherwise each time, by their names."""
    calls = (node for node in walk(tree) if isinstance(node, ast.Call))
    return (call for call in calls if last_name(call.func) in _NAMES or last_name(call.func) in named)


def _differs(call: ast.Call, functions: _Functions, met: frozenset[ast.AST]) -> bool:
    """Whether a call may answer otherwise, or do something, when it is made again."""
    name = last_name(call.func)
    if name in functions:
        return any(_counts(function, functions, met) for function in functions[name] if function not in met)
    fresh = isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call)
    if fresh and name in ("read", "readline", "readlines"):
        return False  # of what is opened for it: `open(path).read()`
    if name == "get":
        return not call.args  # of a queue
    return name in _EACH_TIME


def _counts(function: ast.AST, functions: _Functions, met: frozenset[ast.AST]) -> bool:
    """Whether a function changes what it goes by the next time, or shows something."""
    shared = {n for one in walk(function) if isinstance(one, (ast.Global, ast.Nonlocal)) for n in one.names}
    for node in walk(function):
        match node:
            case ast.Call(func=func):
                shows = last_name(func) in _SHOWS and last_name(func) not in functions
                if shows or _differs(node, functions, met | {function}):
                    return True
            case ast.AugAssign(target=target):
                if not isinstance(target, ast.Name) or target.id in shared:
                    return True
            case ast.Assign(targets=[ast.Attribute() | ast.Name() as target], value=value):
                own = isinstance(target, ast.Name) and target.id not in shared
                if not own and ast.unparse(target) in {ast.unparse(e) for e in walk(value) if isinstance(e, ast.expr)}:
                    return True  # self.on = not self.on
            case _:
                pass
    return False
