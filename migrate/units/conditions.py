"""Conditions of legacy code: which are about Apex being there, what is left of them, are they bools.

After the migration Apex is never asked for, so "Apex could be imported" is simply true.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from ..facts.asked_elsewhere import asked_elsewhere, asks
from ..facts.files import asks_for_main
from ..facts.module import Module
from ..facts.names import called_name
from ..facts.predicates import looks_for_amp, predicate
from ..facts.scopes import Scope
from ..facts.sites import Facts
from ..flow.values import Values
from ..knowledge.apex import DELETED_PARTS, FUSED_PARTS, OF_AMP, of_apex
from ..nodes import walk
from .available import kept
from .loaded import asks_loaded, loaded_at_once

_OR, _AND, _NOT, _ATOM = 1, 2, 3, 4


@dataclass(frozen=True)
class Term:
    """The text of a condition and how tightly it binds; ``value`` where it is a constant."""

    text: str
    binds: int = _ATOM
    value: bool | None = None
    boolean: bool = False
    opposite: Term | None = None

    def inside(self, binds: int) -> str:
        return self.text if self.binds >= binds else f"({self.text})"


TRUE = Term("True", value=True, boolean=True)
FALSE = Term("False", value=False, boolean=True)


def conjunction(terms: list[Term]) -> Term:
    """``a and b and …`` without what is always true and without repeats."""
    kept: list[Term] = []
    for term in terms:
        if term.value is False:
            return FALSE
        if term.value is None and _quoted(term.text) not in {_quoted(t.text) for t in kept}:
            kept.append(term)
    if not kept:
        return TRUE
    if len(kept) == 1:
        return kept[0]
    return Term(" and ".join(t.inside(_AND) for t in kept), _AND, boolean=all(t.boolean for t in kept))


def _quoted(text: str) -> str:
    """A condition with one kind of quotes: the file's own and those that are written here say the same."""
    return text.replace("'", '"')


def negation(term: Term) -> Term:
    if term.value is not None:
        return FALSE if term.value else TRUE
    if term.opposite is not None:
        return term.opposite
    for positive, negative in (
        (" is not None", " is None"),
        (" is None", " is not None"),
        (" == ", " != "),
        (" != ", " == "),
    ):
        if term.binds == _NOT and term.text.count(positive) == 1 and "(" not in term.text:
            return Term(term.text.replace(positive, negative), _NOT, boolean=True)
    return Term(f"not {term.inside(_NOT)}", _NOT, boolean=True, opposite=term)


def conjuncts(terms: list[Term]) -> list[Term]:
    """The same conditions with each ``a and b`` taken apart."""
    return [part for term in terms for part in _parts(term)]


def _parts(term: Term) -> list[Term]:
    if term.binds != _AND:
        return [term]
    try:
        tree = ast.parse(term.text, mode="eval").body
    except SyntaxError:
        return [term]
    if not (isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And)):
        return [term]
    texts = [(node, ast.get_source_segment(term.text, node)) for node in tree.values]
    return [Term(text, _binds(node), boolean=term.boolean or _says_bool(node)) for node, text in texts if text]


def _binds(node: ast.expr) -> int:
    match node:
        case ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return _NOT
        case ast.Name() | ast.Attribute() | ast.Call() | ast.Subscript() | ast.Constant():
            return _ATOM
        case _:
            return _OR  # in brackets wherever it stands beside another


def _says_bool(node: ast.expr) -> bool:
    return isinstance(node, ast.Compare) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))


def reads(text: str) -> frozenset[str]:
    """The names and attributes that an expression reads, as they are written: strings are none."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError:
        return frozenset(text.split())
    return frozenset(ast.unparse(n) for n in walk(tree) if isinstance(n, (ast.Name, ast.Attribute)))


_BOOLS = frozenset("bool isinstance hasattr is_available any all is_enabled callable".split())


class Conditions:
    """Reads the conditions of one module."""

    def __init__(
        self, m: Module, v: Values, facts: Facts, *, keep_fused: bool = False, parts: bool = False
    ) -> None:
        self.m, self.v, self.parts = m, v, parts  # whether Apex's other parts are asked about as well
        self._kernels = parts and not keep_fused  # which are written out, and so are there in any case
        replaced = DELETED_PARTS if keep_fused else DELETED_PARTS | FUSED_PARTS
        self.flags = _availability_flags(m, facts, replaced)
        self.kept_flags = _kept_flags(m, facts, replaced)
        self._options, self._store_true = _argparse_bools(m)
        self._taken_asking = asked_elsewhere(m, facts)
        self.imported = _imported(m, facts)
        self._always = {key for key, sure in self.imported.items() if sure}
        self.flags |= {key: said for key, said in kept(m, self.constant) if not set_from_outside(m, key[1])}

    def term(self, expr: ast.expr) -> Term:
        """What is left of a condition when Apex is no longer asked for."""
        m = self.m
        constant = self.constant(expr)
        if constant is not None:
            return TRUE if constant else FALSE
        match expr:
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return negation(self.term(inner))
            case ast.BoolOp(op=ast.And(), values=values):
                return conjunction([self.term(x) for x in values])
            case ast.BoolOp(op=ast.Or(), values=values):
                terms = [self.term(x) for x in values]
                if any(t.value for t in terms):
                    return TRUE
                kept = [t for t in terms if t.value is None]
                texts = {t.text for t in kept}
                if any(negation(t).text in texts for t in kept):
                    return TRUE
                if len(kept) < 2:
                    return kept[0] if kept else FALSE
                return Term(" or ".join(t.inside(_AND) for t in kept), _OR, boolean=all(t.boolean for t in kept))
            case ast.Compare():
                return Term(m.src(expr), _NOT, boolean=True)
            case ast.Name() | ast.Attribute() | ast.Call() | ast.Subscript():
                return Term(_one_line(m.src(expr)), _ATOM, boolean=self.is_bool(expr))
            case _:
                return Term(f"({_one_line(m.src(expr))})", _ATOM, boolean=self.is_bool(expr))

    def asks_elsewhere(self, name: str) -> bool:
        """Whether a name is a library's function that says whether Apex is there (``is_apex_available``), and nothing
        but amp is asked for by it."""
        return name in self._taken_asking

    def constant(self, expr: ast.expr) -> bool | None:
        """True or False where a condition only asks whether Apex is there (or is a literal)."""
        match expr:
            case ast.Constant(value=bool() as value):
                return value
            case ast.Name(id=name):
                flag = self.flags.get((self.m.binding_scope(name, self.m.scope(expr)), name))
                if flag is not None:
                    return flag
                return True if self._is_apex(expr) else None
            case ast.Attribute():
                return True if self._is_apex(expr) else None
            case ast.Compare(left=left, ops=[ast.Is() | ast.Eq()], comparators=[ast.Constant(value=None)]):
                return False if self._is_there(left) else None
            case ast.Compare(left=left, ops=[ast.IsNot() | ast.NotEq()], comparators=[ast.Constant(value=None)]):
                return True if self._is_there(left) else None
            case ast.Call(func=ast.Name(id="hasattr"), args=[owner, name]) if self._has(owner, name):
                return True
            case ast.Call() if self._by_name(expr) and _decides(self.m, expr):
                return True
            case ast.Compare(ops=[op]) if asks_loaded(expr) and loaded_at_once(self.m):
                return isinstance(op, ast.In)
            case ast.Compare(left=ast.Constant() as name, ops=[op], comparators=[table]) if self._names_of(table, name):
                return isinstance(op, ast.In) if isinstance(op, (ast.In, ast.NotIn)) else None
            case ast.Compare(left=ast.Constant(value="memory_efficient"), ops=[ast.In()], comparators=[table]):
                return True if self._kernels and self._arguments_of_a_norm(table) else None
            case ast.Call() if finds_apex(expr):
                return True
            case ast.Call(func=ast.Name(id=name), args=[], keywords=[]) if self.asks_elsewhere(name):
                return True
            case ast.Call(args=[], keywords=[]):
                asked = list(self.v.callees(expr))
                if len(asked) != 1:
                    return None
                said = _only_returns(asked[0])
                if isinstance(said, ast.Constant):
                    return None  # `def is_main_process(): return True` asks for nothing
                return looks_for_amp(asked[0]) if said is None else self.constant(said)
            case _:
                return None

    def settled(self, expr: ast.expr) -> bool:
        """Whether an expression belongs to a question that has one answer: ``vars(amp)`` in ``"init" in vars(amp)``."""
        at: ast.AST | None = expr
        while isinstance(at, ast.expr) and not isinstance(at, ast.BoolOp):
            if self.constant(at) is not None:
                return True
            at = self.m.parent.get(at)
        return False

    def _is_there(self, expr: ast.expr) -> bool:
        return self._is_apex(expr) or finds_apex(expr) or self._by_name(expr)

    def _by_name(self, expr: ast.expr) -> bool:
        """``getattr(amp, "state_dict", None)``, ``amp.__dict__.get("state_dict")``: what amp has by that name."""
        match expr:
            case ast.Call(func=ast.Name(id="getattr"), args=[owner, name, _]):
                return self._has(owner, name)
            case ast.Call(func=ast.Attribute(value=table, attr="get"), args=[name, *_]):
                return self._names_of(table, name)
            case _:
                return False

    def _has(self, owner: ast.expr, name: ast.expr) -> bool:
        """Whether something is Apex, or its amp, and has what is asked for."""
        if not self._is_apex(owner) or not (isinstance(name, ast.Constant) and isinstance(name.value, str)):
            return False
        return name.value in OF_AMP or all(o.label == "apex" for o in self.v.of(owner))

    def _names_of(self, expr: ast.expr, name: ast.expr) -> bool:
        """Whether ``amp.__dict__``, ``dir(amp)``, all names there are in amp, have a name among them."""
        match expr:
            case ast.Attribute(value=owner, attr="__dict__"):
                return self._has(owner, name)
            case ast.Call(func=ast.Name(id="dir" | "vars"), args=[owner]):
                return self._has(owner, name)
            case _:
                return False

    def _arguments_of_a_norm(self, expr: ast.expr) -> bool:
        """``inspect.getfullargspec(FusedLayerNormAffineFunction.forward).args``, which asks how old Apex is."""
        match expr:
            case ast.Attribute(value=ast.Call(func=ast.Attribute(attr="getfullargspec"), args=[function]), attr="args"):
                held = self.v.of(function)
                kernels = all(o.kind == "apex" and o.label.endswith("Function.forward") for o in held)
                return bool(held) and kernels and all(".normalization." in o.label for o in held)
            case _:
                return False

    def _is_apex(self, expr: ast.expr) -> bool:
        """Whether an expression is Apex wherever Apex could be imported: an import that no condition guards."""
        root = expr
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name):
            return False
        held = self.v.of(expr)
        key = (self.m.binding_scope(root.id, self.m.scope(root)), root.id)
        if key not in self._always or not held:
            return False
        if all(o.label in ("apex", "apex.amp") for o in held):
            return True
        if self._kernels and all(o.label.endswith(".multi_tensor_applier.available") for o in held):
            return True
        part = self.parts and isinstance(expr, ast.Name) and all(o.kind == "apex" for o in held)
        return part and _tested(self.m, expr)  # `norm or FusedLayerNorm` is a class, and no answer

    # ------------------------------------------------------------ is it a bool?

    def is_bool(self, expr: ast.expr, depth: int = 0) -> bool:
        """Whether a value is provably True or False (``torch.autocast(enabled=1)`` is a TypeError)."""
        if depth > 4:
            return False
        m = self.m
        match expr:
            case ast.Constant(value=value):
                return isinstance(value, bool)
            case ast.Compare():
                return True
            case ast.UnaryOp(op=ast.Not()):
                return True
            case ast.BoolOp(values=values):
                return all(self.is_bool(x, depth + 1) for x in values)
            case ast.IfExp(body=one, orelse=other):
                return self.is_bool(one, depth + 1) and self.is_bool(other, depth + 1)
            case ast.Call():
                if called_name(expr) in _BOOLS:
                    return True
                asked = [predicate(function) for function in self.v.callees(expr)]
                return bool(asked) and all(one is not None and self.is_bool(one, depth + 1) for one in asked)
            case ast.Attribute(attr=attr):
                if attr in self._options and not (self._of_self(expr) and self._stored(attr)):
                    return attr in self._store_true
                return self._stored_bools(attr, depth)
            case ast.Name(id=name):
                scope = m.binding_scope(name, m.scope(expr))
                return scope is not None and self._bound_bools(name, scope, depth)
            case _:
                return False

    def _stored_bools(self, attr: str, depth: int) -> bool:
        values = self._stored(attr)
        return bool(values) and all(self.is_bool(x, depth + 1) for x in values)

    def _stored(self, attr: str) -> list[ast.expr]:
        """All values that methods give an attribute of their own instance."""
        return [
            stored.value
            for t in self.m.attributes(attr)
            if isinstance(stored := self.m.parent[t], ast.Assign) and t in stored.targets and self._of_self(t)
        ]

    def _of_self(self, target: ast.Attribute) -> bool:
        """Whether an attribute is one of the method's own instance, so that this file says all of its values."""
        own = self.m.self_name(self.m.function(target))
        return own is not None and isinstance(target.value, ast.Name) and target.value.id == own

    def _bound_bools(self, name: str, scope: Scope, depth: int) -> bool:
        found: list[bool] = []
        if name in scope.params:
            found.append(self._bool_parameter(name, scope, depth))
        for node in self.m.stores(name, scope):
            above = self.m.parent[node]
            found.append(isinstance(above, ast.Assign) and self.is_bool(above.value, depth + 1))
        return bool(found) and all(found)

    def _bool_parameter(self, name: str, scope: Scope, depth: int) -> bool:
        """An annotation says so, or a literal default does and every call in the file hands in a bool."""
        node = scope.node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return False
        a = node.args
        positional = [*a.posonlyargs, *a.args]
        pairs = list(zip(reversed(positional), reversed(a.defaults), strict=False))
        pairs += [(p, d) for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True) if d is not None]
        for param, default in pairs:
            if param.arg == name and isinstance(default, ast.Constant) and isinstance(default.value, bool):
                calls = self.v.calls[node]
                handed = [k.value for c in calls for k in c.keywords if k.arg == name]
                splat = any(k.arg is None for c in calls for k in c.keywords)
                plain = all(len(c.args) <= positional.index(param) for c in calls) if param in positional else True
                if calls and plain and not splat and all(self.is_bool(x, depth + 1) for x in handed):
                    return True
        every = [*positional, *a.kwonlyargs]
        if any(p.arg == name and isinstance(p.annotation, ast.Name) and p.annotation.id == "bool" for p in every):
            return True
        return self._handed_bools(name, node, positional, depth)

    def _handed_bools(
        self, name: str, node: ast.FunctionDef | ast.AsyncFunctionDef, positional: list[ast.arg], depth: int
    ) -> bool:
        """Whether all calls of a program's own function hand a bool to a parameter."""
        names = [p.arg for p in positional]
        calls = self.v.calls[node]
        if node not in self.m.tree.body or not asks_for_main(self.m.file(node).tree) or name not in names or not calls:
            return False
        if {id(n) for n in self.m.named(node.name)} != {id(c.func) for c in calls}:
            return False  # handed on as a value
        handed: list[ast.expr] = []
        for call in calls:
            plain = not any(isinstance(x, ast.Starred) for x in call.args) and all(k.arg for k in call.keywords)
            index = names.index(name)
            by_name = [k.value for k in call.keywords if k.arg == name]
            handed += by_name or call.args[index : index + 1]
            if not plain or not (by_name or index < len(call.args)):
                return False
        return all(self.is_bool(x, depth + 1) for x in handed)


def finds_apex(expr: ast.expr) -> bool:
    """``importlib.util.find_spec("apex")``, ``is_package_available("apex")``."""
    match expr:
        case ast.Call(args=[ast.Constant(value="apex" | "apex.amp")]):
            return called_name(expr) == "find_spec" or asks(called_name(expr))
        case _:
            return False


def _one_line(text: str) -> str:
    return " ".join(text.split()) if "\n" in text or "\r" in text else text


def _argparse_bools(m: Module) -> tuple[set[str], set[str]]:
    """All destinations of argparse options, and those that hold a bool."""
    found: dict[str, bool] = {}
    for node in m.calls("add_argument"):
        if isinstance(node.func, ast.Attribute):
            dest = argparse_dest(node)
            if dest:
                words = {k.arg: k.value for k in node.keywords if k.arg}
                found[dest] = found.get(dest, True) and _bool_option(m, words)
    return set(found), {dest for dest, flag in found.items() if flag}


def _bool_option(m: Module, words: dict[str, ast.expr]) -> bool:
    """Whether what fills an option is a bool, said or not, by the keywords of its ``add_argument``."""
    said = {name: value.value for name, value in words.items() if isinstance(value, ast.Constant)}
    default = isinstance(said.get("default"), bool)
    if said.get("action") in ("store_true", "store_false"):
        return default or "default" not in words
    alone = said.get("nargs") == "?" and isinstance(said.get("const"), bool)  # ``--fp16`` without a value
    if "action" in words or ("nargs" in words and not alone):
        return False
    kind = words.get("type")
    if not isinstance(kind, ast.Name) or not (kind.id == "bool" or _hands_back_bools(m, kind.id)):
        return False
    return default or said.get("required") is True  # else None where the option is not said


def _hands_back_bools(m: Module, name: str) -> bool:
    """Whether a function of the file hands back True or False and nothing else, in whatever way it ends."""
    functions = [n for n in m.tree.body if isinstance(n, ast.FunctionDef) and n.name == name]
    if len(functions) != 1 or functions[0].decorator_list:
        return False
    returned = [n for n in walk(functions[0]) if isinstance(n, ast.Return)]
    return bool(returned) and all(_returns_bool(m, one) for one in returned) and _ends(functions[0].body)


def _returns_bool(m: Module, stmt: ast.Return) -> bool:
    """``return True``; ``if isinstance(v, bool): return v``."""
    match stmt.value, m.parent[stmt]:
        case ast.Constant(value=bool()), _:
            return True
        case (
            ast.Name(id=name),
            ast.If(
                test=ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=asked), ast.Name(id="bool")]),
                body=[only],
            ),
        ):
            return name == asked and only is stmt
        case _:
            return False


def _ends(body: list[ast.stmt]) -> bool:
    """Whether a block never runs into what follows it."""
    match body[-1]:
        case ast.Return() | ast.Raise():
            return True
        case ast.If(body=one, orelse=other):
            return bool(other) and _ends(one) and _ends(other)
        case _:
            return False


def argparse_dest(call: ast.Call) -> str | None:
    """The attribute that an ``add_argument`` call fills."""
    for keyword in call.keywords:
        if keyword.arg == "dest" and isinstance(keyword.value, ast.Constant):
            return str(keyword.value.value)
    names = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    longs = [n for n in names if n.startswith("--")] or [n for n in names if not n.startswith("-")] or names
    return longs[0].lstrip("-").replace("-", "_") if longs else None


def _imported(m: Module, facts: Facts) -> dict[tuple[Scope | None, str], bool]:
    """Names that imports of Apex bind, and nothing else but what stands in where one fails: whether they are bound
    under no other condition."""
    found: dict[tuple[Scope | None, str], bool] = {}
    tries: dict[tuple[Scope | None, str], list[ast.stmt]] = {}
    for stmt in facts.imports:
        sure = not any(isinstance(s, (ast.If, ast.For, ast.While)) for s in m.spine(stmt))
        assert isinstance(stmt, (ast.Import, ast.ImportFrom))
        for alias in stmt.names:
            name = alias.asname or alias.name.split(".")[0]
            key = (m.binding_scope(name, m.scope(stmt)), name)
            found[key] = found.get(key, False) or sure
            holder = m.parent[stmt]
            tries.setdefault(key, []).append(holder if isinstance(holder, ast.Try) else stmt)
    return {
        (scope, name): sure
        for (scope, name), sure in found.items()
        if all(any(_stands_in(m, node, one) for one in tries[scope, name]) for node in m.stores(name, scope))
    }


def _stands_in(m: Module, node: ast.Name, import_: ast.stmt) -> bool:
    """Whether a name is given a constant for an import that fails: in its handlers, or as a default above it."""
    above = m.parent[node]
    if not (isinstance(above, ast.Assign) and isinstance(above.value, ast.Constant)):
        return False
    if m.inside(above, import_):
        return True
    block, index = m.place[import_]
    return m.place[above][0] is block and m.place[above][1] < index


def _only_returns(function: ast.AST) -> ast.expr | None:
    """What a function gives back that does nothing else: ``def is_apex_available(): return _has_apex``."""
    match function:
        case ast.FunctionDef(decorator_list=[], body=[*said, ast.Return(value=ast.expr() as value)]):
            said = [s for s in said if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
            return None if said or function.args.args else value
        case _:
            return None


def _decides(m: Module, expr: ast.expr) -> bool:
    """Whether an expression is asked for its truth alone."""
    above = m.parent.get(expr)
    while isinstance(above, ast.BoolOp):
        above = m.parent.get(above)
    return _tested(m, expr) and not isinstance(above, ast.Compare)


def _tested(m: Module, expr: ast.expr) -> bool:
    """Whether an expression is asked for its truth, or compared."""
    below: ast.AST = expr
    above = m.parent.get(expr)
    while isinstance(above, ast.BoolOp):
        below, above = above, m.parent.get(above)
    if isinstance(above, ast.UnaryOp):
        return isinstance(above.op, ast.Not)
    return isinstance(above, ast.Compare) or getattr(above, "test", None) is below


def _availability_flags(
    m: Module, facts: Facts, replaced: frozenset[str]
) -> dict[tuple[Scope | None, str], bool]:
    """Names that say whether Apex could be imported, and nothing else.

    Set to one constant beside an import that only its own success guards, and to constants otherwise only in
    that import's handlers or, as a default, above it in the same block."""
    told: dict[tuple[Scope | None, str], tuple[bool, ast.Try]] = {}
    for stmt in facts.imports:
        holder = m.parent[stmt]
        if not isinstance(holder, ast.Try) or stmt not in holder.body:
            continue
        if any(isinstance(s, (ast.If, ast.For, ast.While)) for s in m.spine(holder)):
            continue
        for line in [*holder.body, *holder.orelse]:
            if isinstance(line, ast.Assign) and isinstance(line.value, ast.Constant):
                for target in line.targets:
                    if isinstance(target, ast.Name) and isinstance(line.value.value, bool):
                        key = (m.binding_scope(target.id, m.scope(target)), target.id)
                        told[key] = (line.value.value, holder)
        if not any(isinstance(x, ast.Assign) for x in [*holder.body, *holder.orelse]):
            _default_flags(m, holder, told)
    found = {
        key: value
        for key, (value, holder) in told.items()
        if _only_told(m, key, holder)
        and not set_from_outside(m, key[1])
        and not _needs_more(m, holder, replaced)
    }
    for node in m.tree.body:  # HAS_APEX = importlib.util.find_spec("apex") is not None
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            value = node.value
            there = finds_apex(value) or (
                isinstance(value, ast.Compare) and isinstance(value.ops[0], ast.IsNot) and finds_apex(value.left)
            )
            if not there:
                continue
            stores = [n for n in m.named(name) if isinstance(n.ctx, ast.Store)]
            if sum(m.file(n) is m.file(node) for n in stores) == 1 and not set_from_outside(m, name):
                found[(m.scope(node), name)] = True
    return found


def set_from_outside(m: Module, name: str) -> bool:
    """Whether a global name may be set by other means than by its name: ``globals()["HAS_APEX"] = …``,
    ``globals().update(…)``, ``engine.HAS_APEX = …``, ``setattr(engine, "HAS_APEX", …)``, ``exec(…)``."""
    for node in m.all(ast.Attribute):
        if node.attr == name and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) not in ("self", "cls"):
            return True
    for item in m.all(ast.Subscript):
        if isinstance(item.ctx, ast.Store) and _global_names(item.value) and _may_say(item.slice, name):
            return True
    for call in m.all(ast.Call):
        match call:
            case ast.Call(func=ast.Name(id="setattr"), args=[_, said, *_]) if isinstance(said, ast.Constant):
                if said.value == name:
                    return True
            case ast.Call(func=ast.Attribute(value=table, attr="update" | "setdefault")) if _global_names(table):
                return True
            case ast.Call(func=ast.Name(id="exec"), args=[said, *_]):
                if not isinstance(said, ast.Constant) or name in str(said.value):
                    return True
    return False


def _global_names(expr: ast.expr) -> bool:
    """``globals()``, ``vars()`` or the ``__dict__`` of a module."""
    match expr:
        case ast.Call(func=ast.Name(id="globals" | "vars" | "locals"), args=[]):
            return True
        case ast.Attribute(value=ast.Name() | ast.Subscript(), attr="__dict__"):
            return True
        case _:
            return False


def _may_say(key: ast.expr, name: str) -> bool:
    return not isinstance(key, ast.Constant) or key.value == name


def _kept_flags(m: Module, facts: Facts, replaced: frozenset[str]) -> frozenset[str]:
    """Names of flags that are set beside imports of Apex that stay, and of those made of one."""
    holders = {holder for stmt in facts.imports if isinstance(holder := m.parent[stmt], ast.Try)}
    lines = [line for holder in holders if _needs_more(m, holder, replaced) for line in (*holder.body, *holder.orelse)]
    found = {t.id for line in lines if isinstance(line, ast.Assign) for t in line.targets if isinstance(t, ast.Name)}
    for stmt in m.all(ast.Assign) if found else ():
        if any(isinstance(n, ast.Name) and n.id in found for n in walk(stmt.value)):
            found.update(t.id for t in stmt.targets if isinstance(t, ast.Name))
    return frozenset(found)


def _needs_more(m: Module, holder: ast.Try, replaced: frozenset[str]) -> bool:
    """Whether a try imports more of Apex than amp and what has a counterpart, or only what nothing here uses and so
    stays: its flag goes on asking for that. Beside amp such a name goes."""
    amp = any(
        stmt.module == "apex" and alias.name == "amp" and _read(m, alias)
        for stmt in holder.body
        if isinstance(stmt, ast.ImportFrom)
        for alias in stmt.names
    )
    return any(
        (
            isinstance(stmt, ast.ImportFrom)
            and (of_apex(stmt.module or "") or "").startswith("apex.")
            and any(alias.name not in replaced if _read(m, alias) else not amp for alias in stmt.names)
        )
        or (isinstance(stmt, ast.Import) and any(alias.name.startswith("apex.") for alias in stmt.names))
        for stmt in holder.body
        if not ast.unparse(stmt).startswith(("from apex.amp", "import apex.amp"))
    )


def _read(m: Module, alias: ast.alias) -> bool:
    name = alias.asname or alias.name
    return any(isinstance(one.ctx, ast.Load) for one in m.named(name)) or any(c.original == name for c in m.copied)


def _default_flags(m: Module, holder: ast.Try, told: dict[tuple[Scope | None, str], tuple[bool, ast.Try]]) -> None:
    """``HAS = True`` above the try, ``HAS = False`` in its handler: the same flag told the other way round."""
    for handler in holder.handlers:
        for line in handler.body:
            if isinstance(line, ast.Assign) and isinstance(line.value, ast.Constant) and len(line.targets) == 1:
                target = line.targets[0]
                if isinstance(target, ast.Name) and isinstance(line.value.value, bool):
                    told[(m.binding_scope(target.id, m.scope(target)), target.id)] = (not line.value.value, holder)


def _only_told(m: Module, key: tuple[Scope | None, str], holder: ast.Try) -> bool:
    """Whether every other assignment of a flag is its default above the try, or stands in the try."""
    block, index = m.place[holder]
    for node in m.stores(key[1], key[0]):
        above = m.parent[node]
        if not (isinstance(above, ast.Assign) and isinstance(above.value, ast.Constant)):
            return False
        if not isinstance(above.value.value, bool):
            return False
        default = m.place[above][0] is block and m.place[above][1] < index
        if not default and not m.inside(above, holder):
            return False
    return True
