"""Where a program keeps its values: names of functions and of the module, attributes and items of objects."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from ...facts.module import Module
from ...facts.scopes import Scope
from ...facts.sites import opened
from ..program.program import Program
from ..program.syntax import names_in
from ..state import Frame, State, in_order
from ..stores import Store
from ..terms import Term, opaque
from .memory import Memory

_Home = tuple[ast.AST | None, int | None]
_NOTHING: Mapping[object, Term] = {}
FILLED = "[]"  # in the heap: that an item was put into a dictionary
CHANGED: Term = ("changed",)  # in the heap: where an attribute or a key was last changed by code that is not followed


class Variables:
    """The names and attributes of one program."""

    def __init__(self, program: Program) -> None:
        self.program, self.m, self.v, self.naming = program, program.m, program.v, program.naming
        self.memory = Memory(program.mattering.names)
        self._homes: dict[tuple[ast.AST, str], _Home] = {}
        self._params: dict[tuple[ast.AST, str], Term] = {}
        self._unknown: dict[ast.AST, Term] = {}

    def env_of(self, state: State, node: ast.AST, name: str) -> Mapping[object, Term] | None:
        """The variables that ``name`` at ``node`` belongs to; None where they are gone."""
        home, file = self._home(node, name)
        if home is None:
            return None
        if file is not None:
            return state.names.get(file, _NOTHING)
        for frame in reversed(state.frames):
            if frame.code.node is home:
                return frame.env
        return state.closed.get(self.naming.place(home))

    def env_to_set(self, state: State, node: ast.AST, name: str) -> Store[object] | None:
        """The same, to be changed."""
        home, file = self._home(node, name)
        if home is None:
            return None
        if file is not None:
            return state.names_to_set(file)
        for frame in reversed(state.frames):
            if frame.code.node is home:
                return frame.env
        return state.closed_to_set(self.naming.place(home))

    def _home(self, node: ast.AST, name: str) -> _Home:
        """The function that a name belongs to, or the file and its number."""
        found = self._homes.get((node, name))
        if found is None:
            own = _of_a_comprehension(self.m, node, name)
            home = self.m.binding_scope(name, self.m.scope(node)) if not own else None
            while home is not None and isinstance(home.node, ast.ClassDef) and home.parent is not None:
                home = home.parent
            if home is None:
                found = None, None
            else:
                found = home.node, self.m.file(home.node).number if home.parent is None else None
            self._homes[(node, name)] = found
        return found

    def file_of(self, file: Term, name: str) -> int:
        """The file whose variable a name of an imported file is; another one where that only hands it on."""
        home = self.m.binding_scope(name, self.m.files[file[1]].scope) or self.m.files[file[1]].scope
        return self.m.file(home.node).number

    def imported(self, state: State, node: ast.Import | ast.ImportFrom, name: str) -> Term | None:
        """What an import gives a name where that is a file of this program, or copied from one; None elsewhere."""
        file = self.m.modules.get((node, name))
        if file is not None:
            return ("file", self.m.file(file.node).number)
        copies = self.m.copied_by.get(node, ()) if isinstance(node, ast.ImportFrom) else ()
        copied = next((c for c in copies if c.name == name), None)
        if copied is None:
            return None
        number = self.m.file(copied.source.node).number
        unbound = self._unbound(copied.source, copied.original)
        return state.names.get(number, _NOTHING).get(copied.original, unbound)

    def unbound(self, node: ast.AST, name: str) -> Term:
        """A name that nothing here gave a value, or one that is not kept: one that files take from elsewhere is one
        value, what each of them has by itself is not."""
        if self.memory.loses(name):
            return opaque(self.naming.place(node), name)
        if len(self.m.files) == 1:
            return opaque(0, name)
        return self._unbound(self.m.binding_scope(name, self.m.scope(node)), name)

    def _unbound(self, home: Scope | None, name: str) -> Term:
        if home is None or (home.parent is not None and (home, name) not in self.m.foreign):
            return opaque(0, name)
        return opaque(0, self.m.foreign.get((home, name), f"{name} of file {self.m.file(home.node).number}"))

    def receiver(self, frame: Frame) -> str | None:
        """The name of the object whose method is being run."""
        if isinstance(frame.code.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return self.m.self_name(self.m.scope_of[frame.code.node])
        return None

    def param(self, function: ast.AST, name: str) -> Term:
        """What a parameter holds where nobody says what is handed to it."""
        if (function, name) not in self._params:
            self._params[function, name] = self._param(function, name)
        return self._params[function, name]

    def _param(self, function: ast.AST, name: str) -> Term:
        held = {self.naming.key(o) for o in opened(self.v, self.v.variable(name, self.m.scope_of[function]))}
        known = held & (self.program.objects.optimizers | self.program.objects.models)
        return ("obj", frozenset(known)) if known else opaque(self.naming.place(function), name)

    def unknown(self, node: ast.AST) -> Term:
        """A value of which nothing is known but what it may be: an optimizer, a model, a scaler."""
        if node not in self._unknown:
            held = self.program.objects.known(node)
            name = getattr(node, "id", getattr(node, "attr", ""))
            self._unknown[node] = ("obj", held) if held else opaque(self.naming.place(node), name)
        return self._unknown[node]

    def attribute(self, state: State, owner: Term, attr: str, node: ast.expr) -> Term:
        """What an attribute of a value holds, as ``node`` reads it."""
        if owner[0] == "apex":
            return ("apex", f"{owner[1]}.{attr}")
        if owner[0] == "file":
            file = self.m.files[owner[1]].scope
            unbound = self._unbound(self.m.binding_scope(attr, file) or file, attr)
            return state.names.get(self.file_of(owner, attr), _NOTHING).get(attr, unbound)
        if owner[0] == "scaled":
            return owner
        if owner[0] == "obj":
            for key in in_order(owner[1]):
                if (key, attr) in state.heap:
                    return state.heap[(key, attr)]
            if attr == "module":
                return owner
            default = self.program.definitions.class_constant(owner[1], attr)
            if default is not None:
                return ("k", default.value)
        if owner[0] == "dict" and (owner, attr) not in state.heap:
            found: Term | None = dict(owner[1]).get(attr)
            if found is not None:
                return found
        if (owner, attr) not in state.heap and self.memory.loses(attr) and owner[:2] != ("op", "of"):
            return opaque(self.naming.place(node), attr)
        return state.heap.get((owner, attr), ("attr", since(state, owner, attr), attr))


def _of_a_comprehension(m: Module, node: ast.AST, name: str) -> bool:
    """Whether a name is a variable of a comprehension around it: no other one of the function, and never kept."""
    below, at, over = node, m.parent.get(node), None
    while at is not None and not isinstance(at, (ast.stmt, ast.Lambda)):
        if isinstance(at, ast.comprehension):
            over = at if below is at.iter else None
        elif isinstance(at, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            inside = over is not at.generators[0]  # what the first goes over is read outside of it
            if inside and any(name in names_in(one.target) for one in at.generators):
                return True
        below, at = at, m.parent.get(at)
    return False


def since(state: State, owner: Term, name: str) -> Term:
    """An object since an attribute or a key of that name was last changed by code that is not followed."""
    place = state.heap.get((CHANGED, name))
    return owner if place is None else ("op", "since", owner, place)


def owners_of(owner: Term) -> tuple[Term, ...]:
    """The objects that a value may be, each by itself."""
    return in_order(owner[1]) if owner[0] == "obj" else (owner,)
