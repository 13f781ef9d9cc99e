"""Questions about small modules: a text, in it what is asked about, and the answer.

``ask(x)`` in a text asks about the expression ``x``; a line that ends with ``# ?`` asks about its statement.
"""

from __future__ import annotations

import ast
from textwrap import dedent

from migrate.facts.module import Module
from migrate.facts.sites import collect, opened
from migrate.flow.objects import Obj
from migrate.flow.values import Values
from migrate.model import Settings
from migrate.units.conditions import Conditions
from migrate.units.unit import Context, Unit, group


def context(text: str, exported: str = "", settings: Settings = Settings()) -> Context:
    """What every stage reads of a module; ``exported`` are the names that other files import."""
    m = Module(dedent(text))
    v = Values(m)
    facts = collect(m, v)
    return Context(m, v, facts, Conditions(m, v, facts), settings, (frozenset(exported.split()),))


def unit(ctx: Context) -> Unit:
    """The only unit of a module."""
    (one,) = group(ctx.facts, ctx.m)
    return one


def asked(m: Module) -> list[ast.expr]:
    """The arguments of ``ask``."""
    calls = [n for n in m.nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "ask"]
    return [argument for call in calls for argument in call.args]


def marked(m: Module) -> list[ast.stmt]:
    """The statements of the lines with the mark, of each line the innermost."""
    found = {stmt.lineno: stmt for stmt in sorted(m.place, key=m.start) if m.line_text(stmt.lineno).endswith("# ?")}
    return list(found.values())


def said(held: frozenset[Obj]) -> str:
    """Objects in words, in the order of the alphabet: ``SGD()`` is what that call made, ``<Net>`` an instance of the
    file's class, ``[A()]`` a container, ``x`` a parameter, ``x.y`` its attribute."""
    return ", ".join(sorted({_word(obj) for obj in held}))


def contents(v: Values, held: frozenset[Obj]) -> str:
    """The same, containers opened."""
    return said(opened(v, held))


def _word(obj: Obj) -> str:
    match obj.kind:
        case "call":
            return f"{obj.label}()"
        case "instance":
            return f"<{obj.label}>"
        case "seq" | "dict" | "partial":
            return {"seq": "[…]", "dict": "{…}", "partial": "partial(…)"}[obj.kind]
        case "class" | "function" | "method":
            return f"{obj.kind} {obj.label}"
        case _:
            return obj.label
