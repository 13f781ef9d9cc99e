"""Torch's clips by another name: ``limit = nn.utils.clip_grad_norm_``, ``{"norm": clip_grad_norm_}[kind]``,
``getattr(nn.utils, "clip_grad_%s_" % kind)``, ``from torch.nn.utils import clip_grad_norm_ as limit``.

Where a program keeps one so, whatever is called of which it does not say what it is may be that.
"""

from __future__ import annotations

import ast
from functools import cached_property

from ..facts.module import Module
from ..facts.names import called_name, last_name
from ..knowledge.gradients import NO_READER, TORCH_CLIPS
from .spelled import listed_names, meet
from .values import Values

_HOMES = frozenset("utils clip_grad".split())  # modules of torch's that have them
_OTHERS = frozenset("function method class instance seq dict apex".split())  # kinds of what a clip of torch's is not


class KeptClips:
    """Says which calls may run such a clip."""

    def __init__(self, m: Module, v: Values) -> None:
        self.m, self.v = m, v

    def run_by(self, call: ast.Call) -> bool:
        """Whether a call of something that the program does not define may be one of a clip."""
        func = call.func
        if isinstance(func, ast.Name) and func.id in self._renamed and not self._is_variable(func):
            return True
        if not self._kept or self.v.callees(call):
            return False
        match func:
            case ast.Call() | ast.Subscript():
                pass
            case ast.Name(id=name) if self._is_variable(func) and not NO_READER.fit(name):
                pass
            case ast.Attribute(attr=name) if name in self._stored and not NO_READER.fit(name):
                pass
            case _:
                return False
        held = self.v.of(func)
        return not any(one.kind in _OTHERS or (one.kind == "call" and one.label[:1].isupper()) for one in held)

    def _is_variable(self, name: ast.Name) -> bool:
        """Whether a name is a parameter, or is given a value."""
        scope = self.m.binding_scope(name.id, self.m.scope(name))
        return scope is not None and (name.id in scope.params or bool(self.m.stores(name.id, scope)))

    @cached_property
    def _renamed(self) -> frozenset[str]:
        """What clips are imported as."""
        pairs = [(one.name, one.asname) for stmt in self.m.all(ast.ImportFrom) for one in stmt.names]
        return frozenset(own for name, own in pairs if name in TORCH_CLIPS and own is not None and own != name)

    @cached_property
    def _stored(self) -> frozenset[str]:
        """The attributes that the program sets."""
        return frozenset(n.attr for n in self.m.all(ast.Attribute) if isinstance(n.ctx, ast.Store))

    @cached_property
    def _kept(self) -> bool:
        """Whether a clip is put somewhere, and not called where it is spelled."""
        names = (n for name in TORCH_CLIPS for n in (*self.m.named(name), *self.m.attributes(name)))
        return any(map(self._is_value, names)) or any(map(self._asks, self.m.all(ast.Call)))

    def _is_value(self, node: ast.expr) -> bool:
        above = self.m.parent[node]
        called = isinstance(above, ast.Call) and above.func is node
        loaded = isinstance(getattr(node, "ctx", None), ast.Load) and not isinstance(above, ast.Attribute)
        return loaded and not called and not self.v.of(node)

    def _asks(self, call: ast.Call) -> bool:
        """``getattr(nn.utils, "clip_grad_" + kind)``, ``import_by_name("torch.nn.utils.clip_grad_norm_")``."""
        if any(isinstance(arg, ast.Constant) and _dotted(arg.value) for arg in call.args):
            return True
        if called_name(call) == "vars" and call.args:
            return last_name(call.args[0]) in _HOMES
        if called_name(call) != "getattr" or len(call.args) < 2:
            return False
        names = listed_names(self.m, call.args[1])
        if last_name(call.args[0]) not in _HOMES:
            names = [name for name in names if "clip" in name]
        return any(meet(name, clip) for name in names for clip in TORCH_CLIPS)


def _dotted(text: object) -> bool:
    return isinstance(text, str) and "." in text and text.rpartition(".")[2] in TORCH_CLIPS
