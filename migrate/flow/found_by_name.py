"""What is found by a name that code makes at run time: ``globals()[kind + "Evaluator"]``, ``eval(name)``,
``getattr(evaluators, name)``, ``vars(losses)[name]``."""

from __future__ import annotations

import ast
from abc import abstractmethod
from functools import cached_property

from ..facts.module import Module
from ..facts.names import called_name, last_name
from ..facts.scopes import Scope
from ..facts.usual_names import dotted
from ..nodes import positional_parameters
from .arguments import fits
from .attributes import Attributes
from .objects import ELEMENT_KEY, Obj, Var
from .spelled import listed_names, meet

# Classes that others make and run: an optimizer's own step, a loss, a layer of a network.
_OF_TORCH = frozenset("Optimizer Module Function Dataset Sampler _LRScheduler LRScheduler".split())
# Functions and methods that hand back a file's names, or what one of them stands for.
ASKS_BY_NAME = frozenset(
    "globals vars locals import_module __import__ eval getattr get getmembers items values".split()
)
# Functions of libraries that find a class or function by a text with its module's name: pydoc's, pkgutil's, Django's.
LOCATES = frozenset("locate resolve_name import_string import_from_string".split())
TABLE = "names of a file"  # what lists them is called
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class FoundByName(Attributes):
    """Points-to sets with the names of a file as a table, and what is found there."""

    @abstractmethod
    def _key(self, index: ast.expr) -> str:
        """The name of an item."""

    def _file_as_table(self, node: ast.expr, var: Var) -> bool:
        """A file as something whose names are asked for."""
        home = own_names(self.m, node)
        if home is not None:
            self._add(var, Obj("module", home.node, "globals"))
        return home is not None

    def _asks_by_name(self, node: ast.Call, var: Var) -> bool:
        """Whether a call gives a file's own names; what one stands for that it asks for is known from then on."""
        match node:
            case ast.Call(func=ast.Name(id="vars"), args=[table], keywords=[]):
                self._each(self._expr(table), lambda o: self._add(var, o) if o.kind == "module" else None)
            case ast.Call(func=ast.Name(id="eval"), args=[text, *_]):
                home = self.m.root(self.m.scope(node))
                self._run_text(Obj("module", home.node, "globals"), self._names(text), var, node)
            case ast.Call(func=func, args=[text, *_]) if last_name(func) in LOCATES:
                self._located(self._names(text), var, node)
            case ast.Call(func=ast.Name(id="getattr"), args=[table, name, *_]) if self._name_in_part(name):
                self._found_in(table, name, var)
            case ast.Call(func=ast.Attribute(value=table, attr="get"), args=[name, *others]):
                self._found_in(table, name, var)
                for other in others:
                    self._each(self._expr(table), lambda o: self._hand_on(o, other, var))  # noqa: B023
            case ast.Call(func=ast.Attribute(value=table, attr="items" | "values" as what), args=[]):
                self._all_of(node, table, var, pairs=what == "items")
            case ast.Call(func=ast.Name() | ast.Attribute(value=ast.Name()), args=[table, *_]) if _is_members(node):
                self._all_of(node, table, var, pairs=True)
            case _:
                return self._file_as_table(node, var)
        return False

    def _run_text(self, home: Obj, texts: list[str], var: Var, node: ast.Call) -> None:
        """What a text stands for, or makes of names: ``eval("losses.Focal")``, ``eval(kind + "Check(task)")``."""
        for text in texts:
            name, called, given = text.partition("(")
            if not (called and given.endswith(")")):
                self._found(home, [text], var, node.func)
                continue
            found: Var = ("text", node, text)
            self._found(home, [name.strip()], found, node.func)
            self._each(found, lambda o, given=given[:-1]: self._made_by_text(o, given, var, node))  # type: ignore[misc]

    def _made_by_text(self, obj: Obj, given: str, var: Var, node: ast.Call) -> None:
        """An object of a class, whose constructor is handed what names and attributes hold where the text runs. What is
        made of them may be any of them: ``eval("Check(wrapped(task.net))")``."""
        if obj.kind != "class" or not isinstance(obj.key, ast.ClassDef):
            return
        self._add(var, Obj("instance", obj.key, obj.key.name))
        handed = _arguments(given)
        for init in self._methods(obj.key, "__init__"):
            parameters = positional_parameters(init)[1:]  # type: ignore[arg-type]
            for number, (key, value) in enumerate(handed):
                name = key or (parameters[number] if number < len(parameters) else "")
                every = [name] if name in self.m.scope_of[init].params else parameters
                for one in _chains(value):
                    if (held := self._chain(one, node)) is not None:
                        for to in every:
                            self._flow(held, ("n", self.m.scope_of[init], to))

    def _chain(self, written: str, node: ast.Call) -> Var | None:
        """What a name holds where a text runs, or an attribute of it: ``task.net``."""
        first, *rest = written.split(".")
        home = self.m.binding_scope(first, self.m.scope(node))
        if home is None:
            return None
        held, said = self._name(first, home), first
        for attr in rest:
            said = f"{said}.{attr}"
            inner: Var = ("text", node, said)
            self._attribute(held, attr, inner)
            held = inner
        return held

    def _located(self, texts: list[str], var: Var, node: ast.Call) -> None:
        """What a text names with its module: ``locate("checks.SumCheck")``; by one that is not written, any of the
        program's."""
        known = self.m.links[self.m.file(node).number] if self.m.links else {}
        for text in texts:
            module, _, name = text.replace(":", ".").rpartition(".")
            files = [known[module]] if module in known else range(len(self.m.files)) if ELEMENT_KEY in module else ()
            for number in range(len(self.m.files)) if text == ELEMENT_KEY else files:
                self._found(Obj("module", self.m.files[number].scope.node, "globals"), [name], var, node.func)

    def _hand_on(self, table: Obj, other: ast.expr, var: Var) -> None:
        if table.kind == "module":
            self._flow(self._expr(other), var)

    def _name_in_part(self, name: ast.expr) -> bool:
        return any(ELEMENT_KEY in one for one in listed_names(self.m, name))

    def _names(self, name: ast.expr) -> list[str]:
        key = self._key(name)
        return listed_names(self.m, name) if key == ELEMENT_KEY else [key]

    def _found_in(self, table: ast.expr, name: ast.expr, var: Var) -> None:
        """What a table that is a file has by a name."""

        def of_obj(obj: Obj) -> None:
            if obj.kind == "module":
                self._found(obj, self._names(name), var, table)

        self._each(self._expr(table), of_obj)

    def _at(self, table: Obj, key: str) -> Var:
        """The item of a table: a name, where that is a file."""
        return self._global(table, key) if table.kind == "module" and key != ELEMENT_KEY else self._field(table, key)

    def _found(self, home: Obj, names: list[str], dst: Var, asked: ast.expr) -> None:
        """What a name of a file stands for; of a name that is only known in part, the functions and classes that may
        be meant, and something else besides."""
        assert isinstance(home.key, ast.Module)
        scope = self.m.scope_of[home.key]
        for pattern in names:
            first, dot, rest = pattern.partition(".")
            if dot and scope.binds(first):  # `eval("losses." + name)`
                self._each(self._global(home, first), lambda o, r=rest: self._found_below(o, r, dst, asked))  # type: ignore[misc]
            if ELEMENT_KEY not in pattern:
                if scope.binds(pattern):  # what is Apex's stays a text to who rewrites names
                    self._each(self._global(home, pattern), lambda o: None if o.kind == "apex" else self._add(dst, o))
                continue
            meant = [name for name in self._top_level if meet(name, pattern) and scope.binds(name)]
            for name in meant:
                self._each(self._global(home, name), lambda o, p=pattern: self._one_of(o, p, dst))  # type: ignore[misc]
            if meant:
                self._add(dst, Obj("path", (home, pattern), f"{last_name(asked)}.{pattern}"))

    def _found_below(self, file: Obj, name: str, dst: Var, asked: ast.expr) -> None:
        if file.kind == "module":
            self._found(file, [name], dst, asked)

    def _all_of(self, node: ast.Call, table: ast.expr, var: Var, *, pairs: bool) -> None:
        """The rows of a file's names, or of what they stand for: ``vars(losses).items()``, ``getmembers(losses)``."""

        def of_obj(obj: Obj) -> None:
            if obj.kind == "module":
                whole, pair = Obj("seq", node, TABLE), Obj("seq", (node, "pair"), "list")
                self._add(var, whole)
                if pairs:
                    self._add(self._field(whole, ELEMENT_KEY), pair)
                one = self._field(pair, "1") if pairs else self._field(whole, ELEMENT_KEY)
                self._found(obj, [ELEMENT_KEY], one, table)

        self._each(self._expr(table), of_obj)

    def _one_of(self, obj: Obj, pattern: str, dst: Var) -> None:
        if obj.kind not in ("class", "function") or not isinstance(obj.key, (ast.ClassDef, *_FUNCTIONS)):
            return
        name = obj.key.name
        if pattern == ELEMENT_KEY and name not in self._texts and (obj.kind == "function" or self._mentioned(name)):
            return
        takes = not self.is_of_torch(obj.key) if isinstance(obj.key, ast.ClassDef) else self._takes(obj.key, dst)
        if takes:
            self._add(dst, obj)

    def _takes(self, function: ast.FunctionDef | ast.AsyncFunctionDef, dst: Var) -> bool:
        """Whether a function takes what it is handed, where what is found is called at once:
        ``globals()["train_" + args.target](args, loader)``."""
        node = dst[1] if dst[0] == "e" else None
        above = self.m.parent.get(node) if isinstance(node, ast.AST) else None
        called = isinstance(above, ast.Call) and above.func is node
        return not called or fits(above, function.args, positional_parameters(function))  # type: ignore[arg-type]

    def is_of_torch(self, cls: ast.ClassDef) -> bool:
        """Whether a class is one that torch's own code makes and runs."""
        return any(last_name(base) in _OF_TORCH for one in self.order(cls) for base in one.bases)

    def _mentioned(self, name: str) -> bool:
        """Whether somebody asks for a name as such: what nobody does is made by one that is a text, if at all."""
        return any(isinstance(n.ctx, ast.Load) for n in self.m.named(name)) or bool(self.m.attributes(name))

    @cached_property
    def _texts(self) -> set[str]:
        return {n.value for n in self.m.all(ast.Constant) if isinstance(n.value, str)}

    @cached_property
    def _top_level(self) -> list[str]:
        """The names of functions and classes of files."""
        found = dict.fromkeys(
            stmt.name
            for file in self.m.files
            for stmt in file.tree.body
            if isinstance(stmt, (ast.ClassDef, *_FUNCTIONS))
        )
        return [*found]


def _arguments(given: str) -> list[tuple[str, ast.expr]]:
    """What a text hands over, with the names of parameters where it says them; nothing where it is no Python."""
    try:
        call = ast.parse(f"f({given})", mode="eval").body
    except (SyntaxError, ValueError):
        return []
    assert isinstance(call, ast.Call)
    return [*(("", one) for one in call.args), *((k.arg or "", k.value) for k in call.keywords)]


def _chains(value: ast.expr) -> list[str]:
    """The names in an expression, each with the attributes that are asked of it: ``task.net``."""
    found: list[str] = []
    todo: list[ast.AST] = [value]
    while todo:
        at = todo.pop()
        name = dotted(at)
        if name:
            found.append(name)
        else:
            todo += ast.iter_child_nodes(at)
    return found


def _is_members(node: ast.Call) -> bool:
    return called_name(node) == "getmembers"


def own_names(m: Module, node: ast.expr) -> Scope | None:
    """The file whose names an expression holds by what they are called; None where it is something else."""
    scope = m.scope(node)
    match node:
        case ast.Call(func=ast.Name(id="globals"), args=[], keywords=[]):
            return m.root(scope)
        case ast.Call(func=ast.Name(id="vars" | "locals"), args=[], keywords=[]):
            return scope if isinstance(scope.node, ast.Module) else None
        case ast.Subscript(value=ast.Attribute(value=ast.Name(id="sys"), attr="modules"), slice=asked):
            return _called(m, scope, asked)
        case ast.Call(func=func, args=[asked]) if last_name(func) in ("import_module", "__import__"):
            inner = isinstance(asked, ast.Constant) and "." in str(asked.value)
            return None if inner and last_name(func) == "__import__" else _called(m, scope, asked)
        case _:
            return None


def _called(m: Module, scope: Scope, asked: ast.expr) -> Scope | None:
    """The file of the program that a name of a module means."""
    match asked:
        case ast.Name(id="__name__"):
            return m.root(scope)
        case ast.Constant(value=str() as dotted) if m.links:
            number = m.links[m.file(asked).number].get(dotted)
            return None if number is None else m.files[number].scope
        case _:
            return None


def is_found(obj: Obj) -> bool:
    """Whether something stands for what a name asks for that is only known in part."""
    return obj.kind == "path" and obj.key[0].kind == "module"  # type: ignore[index]
