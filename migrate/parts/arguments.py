"""The arguments of one call: which parameter each one is, and how they are written for another function."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ..facts.module import Module
from ..facts.names import called_name
from ..nodes import walk
from ..rewrite.draft import Draft
from .sites import Site


@dataclass(frozen=True, eq=False)
class Arguments:
    """The arguments of a call, by the names of the parameters that take them.

    ``splat`` are those of ``*args`` and ``**options``: what they hold is not told here."""

    site: Site
    named: dict[str, ast.expr]
    splat: tuple[ast.expr, ...]
    starred: bool  # ``*args`` among them
    surplus: bool  # more or other arguments than there are parameters

    def constant(self, name: str, default: object) -> object:
        """The value of an argument that is written down; ``default`` where it is left out, `UNKNOWN` for any other."""
        given = self.named.get(name)
        if given is None:
            return default
        if not isinstance(given, ast.Constant):
            return UNKNOWN
        return bool(given.value) if isinstance(default, bool) else given.value


class _Unknown:
    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = _Unknown()


def bind(site: Site, parameters: Sequence[str]) -> Arguments:
    """The arguments of a call, or of a ``partial``, for a function with these parameters."""
    assert site.call is not None
    call = site.call
    named: dict[str, ast.expr] = {}
    splat: list[ast.expr] = []
    surplus = False
    for index, arg in enumerate(positional(site)):
        if isinstance(arg, ast.Starred):
            splat.append(arg.value)
        elif splat or index >= len(parameters):
            surplus = True  # which parameter it is cannot be told
        else:
            named[parameters[index]] = arg
    for keyword in call.keywords:
        if keyword.arg is None:
            splat.append(keyword.value)
        elif keyword.arg not in parameters or keyword.arg in named:
            surplus = True
        else:
            named[keyword.arg] = keyword.value
    starred = any(isinstance(arg, ast.Starred) for arg in positional(site))
    return Arguments(site, named, tuple(splat), starred, surplus)


def made_by(m: Module, derived: ast.ClassDef, parameters: Sequence[str]) -> list[Arguments]:
    """The arguments with which a class that derives from one of Apex makes that."""
    found = []
    for call in [n for n in walk(derived) if isinstance(n, ast.Call)]:
        at = call.func
        if isinstance(at, ast.Attribute) and at.attr == "__init__":
            outer = isinstance(at.value, ast.Call) and called_name(at.value) == "super"
            skip = 0 if outer else 1  # Base.__init__(self, …)
            found.append(bind(Site(at, "", call, None, False, True, skip == 1), parameters))
    return found


def positional(site: Site) -> list[ast.expr]:
    """The arguments without a name that the function of Apex gets."""
    assert site.call is not None
    return site.call.args[1:] if site.filled else site.call.args


def rewrite(
    m: Module,
    draft: Draft,
    site: Site,
    parameters: Sequence[str],
    native: Sequence[str],
    drop: Collection[str],
    add: Sequence[str],
) -> None:
    """Write the arguments of a call for a function whose positional parameters are ``native``.

    What stands at another place there becomes a keyword; ``drop`` go; ``add`` (``name=value``) come last,
    in front of ``**options``."""
    assert site.call is not None
    call, args = site.call, positional(site)
    every: list[ast.expr | ast.keyword] = sorted([*args, *call.keywords], key=m.start)
    kept: list[ast.expr | ast.keyword] = []
    placed = True  # whether all so far are where torch's function has them
    for arg in every:
        name = _name(args, arg, parameters)
        if name in drop:
            continue
        if isinstance(arg, ast.expr) and name is not None:
            placed = placed and native[len(kept) : len(kept) + 1] == [name]
            if not placed:
                draft.insert_at(m.start(arg), f"{name}=")
        kept.append(arg)
    _cut(m, draft, site.use if site.filled else None, call, every, kept)
    if not add:
        return
    options = next((arg for arg in kept if isinstance(arg, ast.keyword) and arg.arg is None), None)
    if options is not None:
        draft.insert_at(m.start(options), "".join(f"{one}{_between(m, draft, call, options)}" for one in add))
    elif kept:
        last = kept[-1]
        bare = len(every) == 1 and isinstance(last, ast.GeneratorExp) and m.end(last) == m.end(call)
        if bare:  # f(x for x in y): the parentheses are the call's
            draft.insert_at(m.start(last) + 1, "(")
        between = ", " if bare else _between(m, draft, call, last)
        draft.insert_at(m.end(last) - bare, (")" if bare else "") + "".join(f"{between}{one}" for one in add))
    elif site.filled:
        draft.insert_at(m.end(site.use), "".join(f", {one}" for one in add))
    else:
        draft.insert_at(m.text.index("(", m.end(call.func)) + 1, ", ".join(add))


def _between(m: Module, draft: Draft, call: ast.Call, arg: ast.expr | ast.keyword) -> str:
    """What parts arguments of a call: one a line where ``arg`` has one of its own below another, and nothing behind.

    Lines below the call's parenthesis move with it, where what is called gets another name."""
    begins = m.starts[arg.lineno - 1]
    lead = m.text[begins : m.start(arg)]
    last = m.line_text(m.last_line(arg))[m.end(arg) - m.starts[m.last_line(arg) - 1] :].strip()
    alone = not lead.strip() and arg.lineno > call.lineno and last in (",", "", ")")
    if alone and len(lead) == m.end(call.func) + 1 - m.starts[call.func.lineno - 1]:
        more = len(draft.text_of(call.func)) - len(m.src(call.func))
        lead = f"{lead}{' ' * more}" if more > 0 else lead[: len(lead) + more]
    return f",\n{lead}" if alone else ", "


def _name(args: Sequence[ast.expr], arg: ast.expr | ast.keyword, parameters: Sequence[str]) -> str | None:
    if isinstance(arg, ast.keyword):
        return arg.arg
    index = args.index(arg)
    return None if isinstance(arg, ast.Starred) or index >= len(parameters) else parameters[index]


def _runs(
    every: Sequence[ast.expr | ast.keyword], kept: Sequence[ast.expr | ast.keyword]
) -> list[tuple[int, int]]:
    """Neighbouring arguments that go, as the numbers of the first and of the last."""
    runs: list[tuple[int, int]] = []
    for index, arg in enumerate(every):
        if arg in kept:
            continue
        if runs and runs[-1][1] == index - 1:
            runs[-1] = (runs[-1][0], index)
        else:
            runs.append((index, index))
    return runs


def cut_keywords(m: Module, draft: Draft, call: ast.Call, names: Collection[str]) -> None:
    """Take keywords out of a call."""
    every: list[ast.expr | ast.keyword] = sorted([*call.args, *call.keywords], key=m.start)
    kept = [one for one in every if not (isinstance(one, ast.keyword) and one.arg in names)]
    _cut(m, draft, None, call, every, kept)


def _cut(
    m: Module,
    draft: Draft,
    before: ast.expr | None,
    call: ast.Call,
    every: Sequence[ast.expr | ast.keyword],
    kept: Sequence[ast.expr | ast.keyword],
) -> None:
    """Cut what is not kept, with the comma behind it, or the one before where it ends; ``before`` is what stands in
    front of all of them."""
    for first, last in _runs(every, kept):
        ahead = every[first - 1] if first else before
        following = every[last + 1] if last + 1 < len(every) else None
        if (lines := _own_lines(m, ahead, every[first], every[last], following)) is not None:
            draft.cut(*lines)
        elif following is not None:
            draft.cut(m.start(every[first]), m.start(following))
        elif ahead is not None:
            draft.cut(m.end(ahead), m.end(every[last]))
        else:
            draft.cut(m.text.index("(", m.end(call.func)) + 1, m.end(call) - 1)


def _own_lines(
    m: Module,
    ahead: ast.AST | None,
    first: ast.expr | ast.keyword,
    last: ast.expr | ast.keyword,
    following: ast.expr | ast.keyword | None,
) -> tuple[int, int] | None:
    """The whole lines of a run of arguments, with the comments behind them, where nothing else stands on these."""
    begins, final = m.starts[first.lineno - 1], m.last_line(last)
    if m.text[begins : m.start(first)].strip() or final >= len(m.starts) or ahead is None:
        return None
    rest = m.line_text(final)[m.end(last) - m.starts[final - 1] :].split("#")[0].strip()
    if rest != "," or (following is not None and following.lineno == final) or m.last_line(ahead) == first.lineno:
        return None
    return begins, m.starts[final]
