"""Every use of a part of Apex: which name of Apex it is, and whether it can be nothing else."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from ..facts.module import Module
from ..facts.names import called_name
from ..facts.nearest import import_of
from ..facts.scopes import Scope
from ..flow.objects import by_name
from ..knowledge.apex import FIRST_PARAMETERS, of_apex
from ..units.unit import Context

_DEEP = ("contrib",)  # whose names stand one package further down


@dataclass(frozen=True, eq=False)
class Binding:
    """One name that an import of Apex gives a file."""

    stmt: ast.Import | ast.ImportFrom
    alias: ast.alias
    local: str
    home: Scope | None
    name: str  # of Apex

    def twin_of(self, other: Binding) -> bool:
        """Whether both give the same name of Apex to the same name of the same function or file."""
        return self.local == other.local and self.home is other.home and self.name == other.name


class Role(Enum):
    """What a use that is no call is for."""

    ASKED = "whether it is there: a comparison with None, a truth value; what becomes of it the imports say (APX010)"
    BASE = "what a class derives from: its own constructor may call this one"
    NAMED = "the class as such: isinstance, an annotation"
    HANDED = "whatever code that gets the value makes of it"


@dataclass(frozen=True, eq=False)
class Site:
    """One use of ``name``, a class or function of Apex: called, or read as a value where ``call`` is None.

    ``filled`` says that ``call`` is a ``partial`` of it, which leaves arguments open.
    ``binding`` is the import that gives it the name it is used by; None behind an attribute (``apex.parallel.X``)
    and for a ``variable`` that holds it. ``sure`` says that nothing else can be there."""

    use: ast.expr
    name: str
    call: ast.Call | None
    binding: Binding | None
    variable: bool
    sure: bool
    filled: bool = False
    role: Role = Role.HANDED


def canonical(dotted: str) -> str:
    """A name of Apex without the modules that its package takes it from: ``apex.optimizers.FusedAdam``."""
    words = dotted.split(".")
    depth = 3 if len(words) > 1 and words[1] in _DEEP else 2
    return dotted if len(words) <= depth + 1 else ".".join([*words[:depth], words[-1]])


class Sites:
    """All uses of Apex's parts in one file."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx

    @cached_property
    def by_name(self) -> dict[str, list[Site]]:
        """The uses of each class and function, in order."""
        found: dict[str, list[Site]] = defaultdict(list)
        for use, dotted in self._ctx.facts.uses.items():
            if self._without_apex(use):
                continue
            method = dotted.endswith(".apply")  # of an autograd function
            site = self._site(use, canonical(dotted.removesuffix(".apply")) + (".apply" if method else ""))
            found[site.name].append(site)
        return dict(found)

    @cached_property
    def variables(self) -> set[ast.expr]:
        """Uses of variables, which hold what another use gave them."""
        return {site.use for sites in self.by_name.values() for site in sites if site.variable}

    @cached_property
    def bindings(self) -> list[Binding]:
        """All names that imports of Apex give this file."""
        m = self._ctx.m
        found = []
        for stmt in self._ctx.facts.imports:
            assert isinstance(stmt, (ast.Import, ast.ImportFrom))
            for alias in stmt.names:
                local = alias.asname or alias.name.split(".")[0]
                dotted = of_apex(alias.name) or alias.name
                if isinstance(stmt, ast.ImportFrom):
                    dotted = f"{of_apex(stmt.module or '')}.{alias.name}"
                home = m.binding_scope(local, m.scope(stmt))
                found.append(Binding(stmt, alias, local, home, canonical(dotted)))
        return found

    @cached_property
    def unused(self) -> list[Binding]:
        """Those that nothing in the file reads."""
        used = {site.binding for sites in self.by_name.values() for site in sites}
        return [one for one in self.bindings if one not in used]

    def _site(self, use: ast.expr, name: str) -> Site:
        m = self._ctx.m
        above = m.parent.get(use)
        called = isinstance(above, ast.Call) and above.func is use
        filled = isinstance(above, ast.Call) and above.args[:1] == [use] and called_name(above) == "partial"
        call = above if isinstance(above, ast.Call) and (called or filled) else None
        role = self._role(use)
        root = use
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name):
            known = isinstance(root, ast.Call) and by_name(root) is not None  # import_module("apex.optimizers")
            return Site(use, name, call, None, not known, known, filled, role)
        home = m.binding_scope(root.id, m.scope(root))
        mine = [b for b in self.bindings if b.local == root.id and b.home is home]
        if not mine:
            return Site(use, name, call, None, True, self._holds_only(root, home, name), filled, role)
        here = import_of(m, root)
        mine = [b for b in mine if b.alias is here] or mine
        sure = here is not None or all(self._guarded(other, mine) for other in self._others(root.id, home))
        return Site(use, name, call, mine[0] if root is use else None, False, sure, filled, role)

    def besides(self, site: Site) -> list[ast.AST]:
        """What else may give the name of a use its value, where Apex is there as well."""
        if site.binding is None:
            return []
        twins = [one for one in self.bindings if one.twin_of(site.binding)]
        others = self._others(site.binding.local, site.binding.home)
        return [other for other in others if not self._guarded(other, twins)]

    def _without_apex(self, use: ast.expr) -> bool:
        """Whether a use stands in an arm for where Apex is not there, and its name is given something else there."""
        m = self._ctx.m
        if not isinstance(use, ast.Name) or not self._others(use.id, m.binding_scope(use.id, m.scope(use))):
            return False
        below: ast.AST = use
        for above in m.ancestors(use):
            if isinstance(above, (ast.If, ast.IfExp)) and below is not above.test:
                body = above.body if isinstance(above.body, list) else [above.body]
                if self._ctx.conditions.term(above.test).value is (below not in body):
                    return True
            if isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
                return False
            below = above
        return False

    def _role(self, use: ast.expr) -> Role:
        m = self._ctx.m
        above = m.parent.get(use)
        test: ast.AST | None = above if isinstance(above, ast.Compare) else use
        if isinstance(test, ast.expr) and self._ctx.conditions.constant(test) is not None:
            asked = isinstance(above, (ast.Compare, ast.If, ast.While, ast.IfExp, ast.BoolOp, ast.UnaryOp, ast.Assert))
            if asked and getattr(above, "test", use) is use:
                return Role.ASKED
        if isinstance(above, ast.ClassDef) and use in above.bases:
            return Role.BASE
        return Role.NAMED if _named(m, use) else Role.HANDED

    def _holds_only(self, variable: ast.Name, home: Scope | None, name: str) -> bool:
        """Whether all that a variable is ever given is one part of Apex."""
        m = self._ctx.m
        given = [m.parent[store] for store in m.stores(variable.id, home)]
        values = [stmt.value for stmt in given if isinstance(stmt, ast.Assign)]
        plain = all(isinstance(value, (ast.Name, ast.Attribute)) for value in values)  # no item of a table
        held = [self._ctx.v.apex_names(value) for value in values]
        return bool(given) and len(values) == len(given) and plain and all({*map(canonical, h)} == {name} for h in held)

    def _others(self, name: str, home: Scope | None) -> list[ast.AST]:
        """What else gives a name its value: assignments, definitions and imports of anything but Apex."""
        m = self._ctx.m
        found: list[ast.AST] = [*m.stores(name, home)]
        for node in m.declared(name):
            stmt = m.statement(node)
            if m.binding_scope(name, m.scope(node)) is home and stmt not in self._ctx.facts.imports:
                found.append(stmt)
        return found

    def _guarded(self, other: ast.AST, mine: list[Binding]) -> bool:
        """Whether what else gives a name its value does so only where Apex is not there: in a handler of the import,
        or as a default above it."""
        m = self._ctx.m
        for one in mine:
            holder = m.parent[one.stmt]
            if isinstance(holder, ast.Try) and any(m.inside(other, handler) for handler in holder.handlers):
                return True
            stmt = m.statement(other)
            if isinstance(stmt, ast.Assign) and isinstance(stmt.value, ast.Constant) and stmt.value.value is None:
                return True
        return False


def _named(m: Module, use: ast.expr) -> bool:
    """Whether a class is only named: by isinstance, a comparison of types, or an annotation."""
    if is_annotation(m, use):
        return True
    below: ast.AST = use
    above = m.parent.get(use)
    while isinstance(above, (ast.Tuple, ast.Subscript, ast.BinOp)):
        below, above = above, m.parent.get(above)
    match above:
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, classes]):
            return classes is below
        case ast.Compare(ops=[ast.Is() | ast.IsNot() | ast.Eq() | ast.NotEq() | ast.In() | ast.NotIn()]):
            return True
        case _:
            return False


def is_annotation(m: Module, expr: ast.expr) -> bool:
    """Whether an expression is an annotation, or part of one."""
    below: ast.AST = expr
    above = m.parent.get(expr)
    while isinstance(above, (ast.Tuple, ast.Subscript, ast.BinOp, ast.List)):
        below, above = above, m.parent.get(above)
    match above:
        case ast.arg(annotation=annotation) | ast.AnnAssign(annotation=annotation):
            return annotation is below
        case ast.FunctionDef(returns=returns) | ast.AsyncFunctionDef(returns=returns):
            return returns is below
        case _:
            return False


def computed(ctx: Context, name: str, *, chosen: bool = True) -> bool:
    """Whether a name may be read by a string: ``eval("FusedAdam")``, ``eval(args.opt)(…)``, ``globals()[name]``, or an
    annotation in quotes. What wraps a model is not ``chosen`` by an option."""
    if quoted(ctx.m, name):
        return True
    for node in ctx.m.all(ast.Call):
        above = ctx.m.parent[node]
        match node:
            case ast.Call(func=ast.Name(id="eval" | "exec"), args=[ast.Constant(value=str(text)), *_]):
                if re.search(rf"\b{re.escape(name)}\b", text):
                    return True
            case ast.Call(func=ast.Name(id="eval")) if isinstance(above, ast.Call) and above.func is node:
                if chosen and _may_make_part(above):
                    return True
            case ast.Call(func=ast.Name(id="globals"), args=[]):
                told = isinstance(above, ast.Attribute) and above.attr == "update"  # which asks for none
                if isinstance(above, (ast.Subscript, ast.Attribute, ast.Compare)) and not told:
                    return True
    return False


def _may_make_part(call: ast.Call) -> bool:
    """Whether a call may make a part of Apex: what each is made of comes first, and is no text."""
    if not call.args:
        return any(k.arg is None or k.arg in FIRST_PARAMETERS for k in call.keywords)
    return not (isinstance(call.args[0], ast.Constant) and isinstance(call.args[0].value, str))


def quoted(m: Module, name: str) -> bool:
    """Whether an annotation in quotes names something."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    texts = [n for n in m.all(ast.Constant) if isinstance(n.value, str) and word.search(n.value)]
    return any(is_annotation(m, one) for one in texts)
