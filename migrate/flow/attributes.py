"""Attributes: read, set by name or by a pattern of names, and looked up behind ``super()``."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from itertools import islice

from ..facts.names import called_name
from .attribute_dicts import attr_is_item
from .classes import Classes
from .commands import commands
from .objects import ELEMENT_KEY, SELF_METHODS, UNKNOWN, Obj, Var, part
from .spelled import listed_names, meet

_RUN = frozenset("function method partial".split())  # what a command may be


class Attributes(Classes):
    """Points-to sets with what reading and setting attributes means."""

    def _attribute(self, base: Var, attr: str, dst: Var) -> None:
        def of_obj(obj: Obj) -> None:
            match obj.kind:
                case "apex":
                    self._add(dst, part(obj, f".{attr}"))
                case "module" if attr == "__dict__":
                    self._add(dst, obj)
                case "module":
                    self._flow(self._global(obj, attr), dst)
                case "instance" | "class":
                    assert isinstance(obj.key, ast.ClassDef)
                    if attr == "__class__" and obj.kind == "instance":
                        self._add(dst, Obj("class", obj.key, obj.key.name))
                    self._flow(("f", obj, attr), dst)
                    own = self._has_method(obj.key, attr)
                    for name in self._patterns:
                        if meet(name, attr) and not (own and name == ELEMENT_KEY):
                            self._flow(("f", obj, name), dst)
                    self._member(obj, obj.key, attr, dst)
                    if obj.kind == "instance":
                        self._asked_for_others(obj, obj.key, attr, dst)
                case _:
                    if attr in SELF_METHODS and obj.kind in UNKNOWN:
                        self._add(dst, obj)  # `model.cuda` called gives the model; `ddp.module` is it
                    self._flow(("f", obj, attr), dst)
                    for held in self._commands.get(attr, ()) if obj.kind in UNKNOWN else ():
                        self._each(self._expr(held), lambda o: self._add(dst, o) if o.kind in _RUN else None)
                    if attr_is_item(obj, attr):
                        self._flow(("f", obj, ELEMENT_KEY), dst)

        self._each(base, of_obj)
        self._loads.append((base, attr, dst, ""))

    def _asked_for_others(self, obj: Obj, cls: ast.ClassDef, attr: str, dst: Var) -> None:
        """What an object lacks and another one of its has: ``__getattr__`` that hands on what it is asked for."""
        names = self.asks_for_others(cls)
        if not names or attr in SELF_METHODS or attr in names or any(self._owns(one, attr) for one in self.order(cls)):
            return
        for name in names:
            if (obj, name, attr, dst) not in self._lent:  # an object may stand for itself
                self._lent.add((obj, name, attr, dst))
                self._attribute(("f", obj, name), attr, dst)

    def _has_method(self, cls: ast.ClassDef, attr: str) -> bool:
        """Whether a class has a plain method of that name: what ``setattr`` is handed by a name of which nothing is
        written is no other one."""
        found = (self.m.method(one, attr) for one in self.order(cls))
        return any(isinstance(f, (ast.FunctionDef, ast.AsyncFunctionDef)) and not f.decorator_list for f in found)

    @cached_property
    def _commands(self) -> dict[str, list[ast.expr]]:
        """By an attribute of options the functions that a parser's ``set_defaults`` gives it."""
        found: dict[str, list[ast.expr]] = defaultdict(list)
        for name, held in commands(self.m):
            found[name].append(held)
        return found

    @cached_property
    def _lent(self) -> set[tuple[Obj, str, str, Var]]:
        return set()

    @cached_property
    def _patterns(self) -> list[str]:
        """Names of attributes of which only a part is written: ``setattr(self, "net" + name, …)``."""
        calls = [n for n in self.m.all(ast.Call) if called_name(n) == "setattr" and len(n.args) == 3]
        names = {key for call in calls for key in listed_names(self.m, call.args[1])}
        return [ELEMENT_KEY, *sorted(name for name in names if ELEMENT_KEY in name and name != ELEMENT_KEY)]

    def _super(self, node: ast.AST, given: Sequence[ast.expr], attr: str, dst: Var) -> None:
        """What ``super().attr`` is: the next class behind this one, in the order of each instance's own class; of
        ``super(Base, self).attr``, which names the class, behind that one."""
        scope = self.m.function(node)
        cls, first = self.m.class_of(scope), self.m.self_name(scope)
        if cls is None or first is None:
            return
        named = {one.id for one in given if isinstance(one, ast.Name)}

        def of_obj(obj: Obj) -> None:
            if obj.kind != "instance" or not isinstance(obj.key, ast.ClassDef):
                return
            self._flow(("f", obj, attr), dst)
            order = self.order(obj.key)
            begin = next((c for c in order if c.name in named), cls) if cls.name not in named else cls
            for after in islice(order, order.index(begin) + 1, None) if begin in order else ():
                if self._defines(after, attr):
                    self._member(obj, after, attr, dst)
                    return

        self._each(("n", scope, first), of_obj)

    def _set_attribute(self, base: Var, key: str, value: Var) -> None:
        """``setattr`` with a name, or with a pattern of names."""
        self._each(base, lambda o: self._flow(value, self._field(o, key)))

    def _get_attribute(self, base: Var, key: str, dst: Var) -> None:
        """``getattr`` with a name, or with a pattern of names."""
        if ELEMENT_KEY not in key:
            self._attribute(base, key, dst)
        else:
            self._each(base, lambda o: self._some_attribute(o, key, dst))

    def _some_attribute(self, obj: Obj, pattern: str, dst: Var) -> None:
        """``getattr(obj, "net" + name)``: an attribute that may be meant, or a method by a name that this file spells.

        A method that it does not spell is called by others, if by anyone."""
        if obj.kind != "instance" or not isinstance(obj.key, ast.ClassDef):
            return
        self._each_field(obj, lambda name: self._flow(("f", obj, name), dst) if meet(name, pattern) else None)
        before, _, after = pattern.partition(ELEMENT_KEY)
        for owner in self.order(obj.key):
            for stmt in owner.body:
                if not isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    continue
                name = stmt.name
                inner = name[len(before) : len(name) - len(after)]
                spelled = name.startswith(before) and name.endswith(after) and inner in self._spelled
                if spelled and not (name.startswith("__") and name.endswith("__")):
                    self._member(obj, obj.key, name, dst)

    @cached_property
    def _spelled(self) -> set[str]:
        """All strings of the module that could be a part of a name; names of classes where a class is asked for its."""
        texts = {n.value for n in self.m.all(ast.Constant) if isinstance(n.value, str)}
        if self.m.attributes("__name__"):
            texts |= {called_name(call) for call in self.m.all(ast.Call)} | self.class_names
        return {text for text in texts if f"_{text}".isidentifier()}
