"""The arguments of one call: which parameter each one is, and how they are written for another function."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from migrate.facts.module import Module
from migrate.parts.sites import Site
from migrate.rewrite.draft import Draft


@dataclass(frozen=True, eq=False)
class Arguments:
    """The arguments of a call, by the names of the parameters that take them.

    ``splat`` are those of ``*args`` and ``**options``: what they hold is not told here."""

    site: Site
    named: dict[str, ast.expr]
    splat: tuple[ast.expr, ...]
    surplus: bool  # more or other arguments than there are parameters

    def constant(self, name: str, default: object) -> object:
        """The value of an argument that is written down; ``default`` where it is left out, `UNKNOWN` for any other."""
        given = self.named.get(name)
        if given is None:
            return default
        return given.value if isinstance(given, ast.Constant) else UNKNOWN


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
    return Arguments(site, named, tuple(splat), surplus)


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
    for arg in every:
        name = _name(args, arg, parameters)
        if name in drop:
            continue
        if isinstance(arg, ast.expr) and name is not None and native[len(kept) : len(kept) + 1] != [name]:
            draft.insert_at(m.start(arg), f"{name}=")
        kept.append(arg)
    _cut(m, draft, site.use if site.filled else None, call, every, kept)
    if not add:
        return
    options = next((arg for arg in kept if isinstance(arg, ast.keyword) and arg.arg is None), None)
    if options is not None:
        draft.insert_at(m.start(options), "".join(f"{one}, " for one in add))
    elif kept:
        bare = len(every) == 1 and isinstance(kept[-1], ast.GeneratorExp) and m.end(kept[-1]) == m.end(call)
        if bare:  # f(x for x in y): the parentheses are the call's
            draft.insert_at(m.start(kept[-1]) + 1, "(")
        draft.insert_at(m.end(kept[-1]) - bare, (")" if bare else "") + "".join(f", {one}" for one in add))
    elif site.filled:
        draft.insert_at(m.end(site.use), "".join(f", {one}" for one in add))
    else:
        draft.insert_at(m.text.index("(", m.end(call.func)) + 1, ", ".join(add))


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
        if last + 1 < len(every):
            draft.cut(m.start(every[first]), m.start(every[last + 1]))
        elif ahead is not None:
            draft.cut(m.end(ahead), m.end(every[last]))
        else:
            draft.cut(m.text.index("(", m.end(call.func)) + 1, m.end(call) - 1)
