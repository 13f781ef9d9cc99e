"""What a program does with a class that is written out for it, so that the class holds no more than that.

An option that every call of the file leaves as it is, or gives the same switch for, is no parameter; a method or an
attribute that nothing in the file asks for goes, unless the object leaves the file: then it keeps what optimizers have
in common, and what other files of its process spell.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from dataclasses import replace as but
from functools import cached_property

from ..facts.names import called_name
from ..facts.sites import opened
from ..flow.objects import Obj
from ..knowledge.models import OPTIONS
from ..nodes import walk
from ..rules.common import Work
from ..units.unit import Context
from . import arguments
from .definitions import definition, template
from .optimizers import of_a_group
from .outcome import Native, Stays
from .sites import Site
from .specialised import Known

_OPTIMIZERS = frozenset("adam adam_contrib lamb novograd fp16_optimizer fp16_contrib".split())
# What anything may ask an optimizer for that it is handed.
_COMMON = frozenset("param_groups state zero_grad step state_dict load_state_dict".split())
_WRAPPERS = ("FP16_Optimizer", "LARC")  # which step what they wrap without arguments
# Keys of groups that schedules and groups of their own have other values for.
_TUNED = frozenset("lr betas eps weight_decay".split())
_OTHERS = re.compile(
    r"(?:^|_)(?:model|net|network|module|encoder|decoder|classifier|backbone|loss|losses|scheduler|scaler)$", re.I
)
_PLAIN_BASES = ("object", "ABC", "abc.ABC", "Module", "nn.Module", "torch.nn.Module")
_BY_NAME = frozenset("getattr hasattr setattr delattr attrgetter methodcaller".split())
_LOOKS = (ast.Attribute, ast.Compare, ast.If, ast.While, ast.Assert, ast.UnaryOp)
_SCHEDULE = re.compile(r"LR$|Plateau$|[Ss]chedule(?:r|_with_\w+)?$")  # which asks for groups of parameters, no more
_HARMLESS = frozenset("isinstance issubclass type print id".split())
_STEPS_BEFORE = re.compile(r"load_state_dict|\.step\(|\.state\b|\bwhile\b")


def narrowed(ctx: Context, work: Work, decided: Mapping[Site, Native | Stays]) -> dict[Site, Native]:
    """The classes of ``decided`` that are written out, as their sites need them."""
    groups: dict[str, dict[Site, Native]] = defaultdict(dict)
    for site, outcome in decided.items():
        if isinstance(outcome, Native) and outcome.template is not None and outcome.template[0] in _OPTIMIZERS:
            groups[outcome.name][site] = outcome
    found: dict[Site, Native] = {}
    every = work.sites.by_name if work.sites is not None else {}
    wraps = [site for name, sites in every.items() if name.rpartition(".")[2] in _WRAPPERS for site in sites]
    written = {site.call for site in wraps if site.call is not None}
    for sites in groups.values():
        if len({one.template for one in sites.values()}) == 1 and not any(map(_open, sites)):
            found.update(_Uses(ctx, sites, written).narrowed(work))
    return found


def _open(site: Site) -> bool:
    """Whether it is not known what a use does with the class: it is handed on, or derived from."""
    return site.filled or site.variable or (site.call is None and site.role.name != "NAMED")


@dataclass(frozen=True, eq=False)
class _Uses:
    ctx: Context
    sites: Mapping[Site, Native]
    wrapped: Collection[ast.Call]  # calls of what keeps an optimizer and steps it

    def narrowed(self, work: Work) -> dict[Site, Native]:
        first = next(iter(self.sites.values()))
        assert first.template is not None
        cls = template(*first.template)
        known = self._known(cls)
        parameters = [arg.arg for arg in _init(cls).args.args[1:]]
        left = [name for name in parameters if name not in known.gone]
        found = {}
        for site, outcome in self.sites.items():
            module, name = first.template
            lines = definition(module, work.native(site.use).torch, name, outcome.name, f"class {name}", known=known)
            found[site] = but(
                outcome, definition=lines, parameters=parameters, positional=left, drop=sorted(known.gone)
            )
        return found

    def _known(self, cls: ast.ClassDef) -> Known:
        values, gone, switches = self._values(_init(cls).args)
        said = [f"{name}={values[name]}" for name in switches if cls.bases and not self._grouped(name)]
        methods = [stmt for stmt in cls.body if isinstance(stmt, ast.FunctionDef) and stmt.name != "__init__"]
        needed = {"step", "backward"} & {one.name for one in methods}
        unseen = "anywhere" in self._leaves or "__dict__" in self._asked or not needed <= self._asked
        idle = {
            (method.name, arg.arg)
            for method in ([] if unseen else methods)
            for index, arg in enumerate(method.args.args[1:])
            if index >= len(method.args.args) - 1 - len(method.args.defaults)
            if not self._given(method.name, index, arg.arg)
        }
        keys = frozenset(name for name in values if name not in _TUNED and not self._grouped(name))
        fresh = all(self._fresh(site.call) for site in self.sites if site.call is not None)
        return Known(
            values,
            gone,
            keys,
            frozenset(idle),
            frozenset({"init_optimizer.state"} if fresh else ()),
            lambda name: (unseen and not cls.bases) or name in self._asked,  # what no optimizer of torch's has
            self._grouped,
            f", with {' and '.join(said)}." if said else ".",
        )

    def _values(self, args: ast.arguments) -> tuple[dict[str, object], frozenset[str], list[str]]:
        """The options that have one value in all calls, which of them need not be given any more, and what the calls
        said of those."""
        names = [arg.arg for arg in args.args[1:]]
        defaults = dict(zip(names[len(names) - len(args.defaults) :], args.defaults, strict=True))
        bound = [arguments.bind(site, names) for site in self.sites if site.call is not None]
        if not bound or any(one.splat or one.starred or one.surplus for one in bound):
            return {}, frozenset(), []
        values: dict[str, object] = {}
        gone: set[str] = set()
        switches = []
        for name, default in defaults.items():
            given = [_constant(one.named.get(name, default)) for one in bound]
            if None in given or name == "lr" or len({repr(one) for one in given}) > 1:
                continue
            values[name] = given[0].value  # type: ignore[union-attr]
            if all(name not in one.named for one in bound) or isinstance(values[name], bool | None):
                gone.add(name)
                if repr(_constant(default)) != repr(given[0]):
                    switches.append(name)
        return values, frozenset(gone), switches

    @cached_property
    def _objects(self) -> frozenset[Obj]:
        return frozenset(obj for site in self.sites if site.call is not None for obj in self.ctx.v.of(site.call))

    @cached_property
    def _leaves(self) -> frozenset[str]:
        """Where such an object may get to, but for the file: to other files of the ``tree``, or ``anywhere``."""
        m, v, objects = self.ctx.m, self.ctx.v, self._objects
        if not objects or not self._stepped:
            return frozenset({"anywhere"})
        found: set[str] = set()
        for call in self.ctx.touching(objects):
            handed = [*call.args, *(keyword.value for keyword in call.keywords)]
            if any(opened(v, v.of(one)) & objects for one in handed):
                found.add(self._taken(call))
        for node in [n for kind in (ast.Name, ast.Attribute, ast.Call, ast.Subscript) for n in m.all(kind)]:
            if not isinstance(getattr(node, "ctx", None), ast.Store) and v.of(node) & objects:
                found.add(self._goes(node))
        return frozenset(found - {""})

    def _goes(self, node: ast.expr) -> str:
        """Where what an expression holds gets to by its statement, but for calls that are handed it."""
        m, above = self.ctx.m, self.ctx.m.parent[node]
        if isinstance(above, _LOOKS) or (isinstance(above, ast.Call) and above.func is node):
            return ""
        for outer in m.ancestors(node):
            match outer:
                case ast.Call() | ast.Expr():
                    return ""
                case ast.Lambda() | ast.Yield() | ast.YieldFrom():
                    return "anywhere"
                case ast.stmt():
                    return self._put(outer)
        return "anywhere"

    @cached_property
    def _stepped(self) -> bool:
        """Whether something in the file may call ``step`` of such an object, or a wrapper that is written out does."""
        v, objects = self.ctx.v, self._objects
        wrapped = [arg for call in self.wrapped for arg in call.args]
        calls = [call.func for call in self.ctx.m.calls("step") if isinstance(call.func, ast.Attribute)]
        return any(v.of(one) & objects for one in wrapped) or any(v.of(one.value) & objects for one in calls)

    def _put(self, stmt: ast.stmt) -> str:
        """Where a statement takes what it returns or keeps: what a class of a library's keeps may be asked anywhere."""
        m = self.ctx.m
        if isinstance(stmt, ast.Assign):
            kept = [n for one in stmt.targets for n in (one.elts if isinstance(one, ast.Tuple) else [one])]
            names = {one.id for one in kept if isinstance(one, ast.Name)}
            attributes = [one.value for one in kept if isinstance(one, ast.Attribute)]
            if len(names) == len(kept):
                return "tree" if self.ctx.exported(stmt) & {"*", *names} else ""
            own = [one for one in attributes if isinstance(one, ast.Name) and one.id == m.self_name(m.scope(one))]
            if len(names) + len(own) < len(kept):
                return "anywhere"
        elif not isinstance(stmt, ast.Return):
            return "anywhere"
        cls = m.class_of(m.scope(stmt))
        if cls is None:
            return "tree"
        itself = m.self_name(m.scope(stmt))
        handed = [
            call
            for call in walk(cls)
            if isinstance(call, ast.Call) and any(isinstance(arg, ast.Name) and arg.id == itself for arg in call.args)
            if called_name(call) not in ("super", "__init__") and self._taken(call) == "anywhere"
        ]
        return "anywhere" if handed or not all(map(self._known_base, cls.bases)) else "tree"

    def _known_base(self, base: ast.expr) -> bool:
        named = isinstance(base, ast.Name) and any(isinstance(n, ast.ClassDef) for n in self.ctx.m.declared(base.id))
        return named or self.ctx.m.src(base) in _PLAIN_BASES or self._of_the_tree(base)

    def _taken(self, call: ast.Call) -> str:
        """Where a call takes what it is given: nowhere, where it stays in the file or is asked for nothing."""
        name = called_name(call)
        if self.ctx.v.callees(call) or call in self.wrapped or name in _HARMLESS or _SCHEDULE.search(name):
            return ""
        if isinstance(call.func, ast.Attribute) and name in ("step", "unscale_") and len(call.args) == 1:
            return ""  # of a GradScaler
        if name in _BY_NAME and len(call.args) > 1 and isinstance(call.args[1], ast.Constant):
            return ""
        return "tree" if self._of_the_tree(call.func) else "anywhere"

    def _of_the_tree(self, function: ast.expr) -> bool:
        """Whether what is called comes from another file of the tree, which says what it asks for."""
        root = function
        while isinstance(root, ast.Attribute):
            root = root.value
        own = self.ctx.leading
        if not isinstance(root, ast.Name) or not own:
            return False
        for stmt in self.ctx.m.declared(root.id):
            at = self.ctx.m.statement(stmt)
            names = [alias.name for alias in getattr(at, "names", []) if (alias.asname or alias.name) == root.id]
            module = getattr(at, "module", None) or ""
            dotted = {module, *names, *(f"{module}.{one}" for one in names)}
            if not isinstance(at, (ast.Import, ast.ImportFrom)) or not any(_leads(one, own) for one in dotted):
                return False
        return bool(self.ctx.m.declared(root.id))

    @cached_property
    def _asked(self) -> frozenset[str]:
        """The attributes that something may ask such an object for; ``name=`` is one that is set."""
        m, leaves = self.ctx.m, bool(self._leaves)
        found: set[str] = set()
        for node in m.all(ast.Attribute):
            if not self._another(node.value, leaves):
                found.add(node.attr)
                if isinstance(node.ctx, ast.Store):
                    found.add(f"{node.attr}=")
        for call in m.all(ast.Call):
            if _SCHEDULE.search(called_name(call)):
                found.add("param_groups")
            if called_name(call) in _BY_NAME:
                texts = [n.value for n in walk(call) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
                found.update(texts, (f"{one}=" for one in texts))
        if leaves:
            found |= self.ctx.spoken
            found |= _COMMON if "*" in self.ctx.spoken else frozenset()
        return frozenset(found)

    def _another(self, owner: ast.expr, leaves: bool) -> bool:
        """Whether an expression is no such object: it holds others, or its name says so."""
        m = self.ctx.m
        word = owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""
        if word in OPTIONS or _OTHERS.search(word):
            return True
        if isinstance(owner, ast.Name) and owner.id == m.self_name(m.scope(owner)):
            return True
        held = self.ctx.v.of(owner)
        return bool(held) and not leaves and not held & self._objects

    def _given(self, method: str, index: int, name: str) -> bool:
        """Whether a call of a method may give one of its parameters."""
        if self._leaves and self.ctx.spoken & {"*", method}:
            return True
        for node in self.ctx.m.attributes(method):  # the method itself, which is called elsewhere
            above = self.ctx.m.parent[node]
            called = isinstance(above, ast.Call) and above.func is node
            if not called and not self._another(node.value, bool(self._leaves)):
                return True
        for call in self.ctx.m.calls(method):
            if name == "closure" and any(ast.unparse(arg) == name for arg in call.args):
                return True
            if not isinstance(call.func, ast.Attribute) or self._another(call.func.value, bool(self._leaves)):
                continue
            starred = any(isinstance(arg, ast.Starred) for arg in call.args)
            if starred or len(call.args) > index or any(k.arg in (None, name) for k in call.keywords):
                return True
        return False

    def _grouped(self, key: str) -> bool:
        """Whether something may have a key of groups of parameters, or ask them for it."""
        m = self.ctx.m
        strings = m.strings(key)
        if key == "step":
            return self.ctx.counted or any(of_a_group(self.ctx, one) for one in strings)
        if strings or f'"{key}"' in self.ctx.spoken or (key == "bias_correction" and self.ctx.counted):
            return True
        return any(k.arg == key for call in m.calls("dict") for k in call.keywords)

    def _fresh(self, call: ast.Call) -> bool:
        """Whether an optimizer that is wrapped was made right above, and so keeps nothing yet."""
        m = self.ctx.m
        wrapped = call.args[0] if call.args else None
        if isinstance(wrapped, ast.Call):
            return called_name(wrapped)[:1].isupper()
        if not isinstance(wrapped, ast.Name):
            return False
        home = m.scope(wrapped)
        stores = [n for n in m.stores(wrapped.id, m.binding_scope(wrapped.id, home)) if m.start(n) < m.start(call)]
        made = [m.parent[n] for n in stores if m.statement(n) is not m.statement(call)]
        if not made or any(m.scope(one) is not home for one in made):
            return False
        for one in made:
            value = one.value if isinstance(one, ast.Assign) else None
            if not isinstance(value, ast.Call) or not called_name(value)[:1].isupper():
                return False
        return not _STEPS_BEFORE.search(m.text[min(map(m.start, made)) : m.start(call)])


def _init(cls: ast.ClassDef) -> ast.FunctionDef:
    return next(stmt for stmt in cls.body if isinstance(stmt, ast.FunctionDef) and stmt.name == "__init__")


def _leads(dotted: str, own: Collection[str]) -> bool:
    return bool(dotted) and dotted in {one.lstrip(".") for one in own}


@dataclass(frozen=True)
class _Constant:
    value: object


def _constant(expr: ast.expr) -> _Constant | None:
    """A constant, also one that is made of some (``(0.9, 0.999)``, ``-1``), and the keys of a dictionary; None of
    anything else."""
    if isinstance(expr, ast.Constant):
        return _Constant(expr.value)
    if isinstance(expr, ast.Dict):
        keys = [key.value for key in expr.keys if isinstance(key, ast.Constant)]
        return _Constant(frozenset(keys)) if len(keys) == len(expr.keys) else None
    try:
        value = ast.literal_eval(expr)
    except (ValueError, TypeError, SyntaxError):
        return None
    return _Constant(value) if isinstance(value, (int, float, tuple)) else None
