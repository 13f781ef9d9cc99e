"""Every place of one module that has to do with Apex, as facts: what stands there, not what to do."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from ..flow.arguments import argument
from ..flow.objects import ITEM_KEY, Obj, by_name
from ..flow.values import Values
from ..knowledge.apex import of_apex
from ..knowledge.gradients import TORCH_SCHEDULERS
from .bound_anew import bound_anew
from .elsewhere import NOWHERE, Elsewhere
from .module import Module
from .names import called_name, last_name
from .nearest import import_of
from .once import once_each

INITIALIZE_PARAMETERS = (
    "models optimizers enabled opt_level cast_model_type patch_torch_functions keep_batchnorm_fp32 "
    "master_weights loss_scale cast_model_outputs num_losses verbosity min_loss_scale max_loss_scale"
).split()


@dataclass(eq=False)
class Initialize:
    """One ``amp.initialize`` call. ``models`` and ``optimizers`` are flat, lists opened."""

    call: ast.Call
    models: list[ast.expr]
    optimizers: list[ast.expr]
    model_objects: frozenset[Obj]
    optimizer_objects: frozenset[Obj]
    options: dict[str, ast.expr]
    splat: ast.expr | None
    handle: ast.Call | None = None  # the ``amp.init`` call of the old API that this goes through


@dataclass(eq=False)
class Scale:
    """One ``amp.scale_loss`` call; ``with_`` is the block that enters it, None where no with statement does.

    ``whole`` is the expression that stands for the context: the call, or ``call if fp16 else nullcontext(loss)``.
    ``item`` is None where that is no item of ``with_`` itself, but entered under a name or on an ``ExitStack``."""

    call: ast.Call
    loss: ast.expr | None
    optimizers: ast.expr | None
    optimizer_objects: frozenset[Obj]
    with_: ast.With | None
    item: ast.withitem | None
    alias: str | None
    whole: ast.expr | None = None


@dataclass(eq=False)
class Facts:
    """All sites of a module. ``uses`` are the outermost expressions that stand for something of Apex."""

    initializes: list[Initialize] = field(default_factory=list)
    scales: list[Scale] = field(default_factory=list)
    uses: dict[ast.expr, str] = field(default_factory=dict)
    imports: dict[ast.stmt, list[str]] = field(default_factory=dict)
    spelled: list[ast.Name] = field(default_factory=list)
    ambiguous: set[str] = field(default_factory=set)
    elsewhere: Elsewhere = NOWHERE


def collect(m: Module, v: Values, elsewhere: Elsewhere = NOWHERE) -> Facts:
    """All facts of a module; ``elsewhere`` is what other files make of networks."""
    facts = Facts(elsewhere=elsewhere)
    bound: set[tuple[int, str]] = set()  # names of each file
    other: set[tuple[int, str]] = set()
    for node in m.of(ast.Import, ast.ImportFrom):
        file, scope = m.file(node).number, m.scope(node)
        match node:
            case ast.Import(names=names):
                hits = [dotted for a in names if (dotted := of_apex(a.name)) is not None]
                ours = [a for a in names if of_apex(a.name) is not None]
                bound |= {(file, n) for a in ours if not bound_anew(m, node, n := a.asname or a.name.split(".")[0])}
                other |= {(file, a.asname or a.name.split(".")[0]) for a in names if of_apex(a.name) is None}
                if hits:
                    facts.imports[node] = hits
            case ast.ImportFrom(module=source, names=names, level=level):
                if source and level == 0 and (whole := of_apex(source)) is not None:
                    facts.imports[node] = [f"{whole}.{a.name}" for a in names]
                    bound |= {(file, n) for a in names if not bound_anew(m, node, n := a.asname or a.name)}
                else:
                    other |= {(file, a.asname or a.name) for a in names if a.name not in scope.linked}
    facts.ambiguous = {name for _, name in bound & other}
    for node in m.of(ast.Name, ast.Attribute, ast.Subscript, ast.Call):
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Load):
            held = frozenset(name for name in v.apex_names(node) if not _number(name, node))
            if held and not _of_apex_here(m, facts, node):
                held = frozenset()
            above = m.parent.get(node)
            outer = isinstance(above, (ast.Attribute, ast.Subscript)) and above.value is node
            if held and not (outer and v.apex_names(above)):  # type: ignore[arg-type]
                facts.uses[node] = min(held)
            elif isinstance(node, ast.Name) and (m.file(node).number, node.id) in bound and not held:
                facts.spelled.append(node)
        if isinstance(node, ast.Call):
            above = m.parent.get(node)
            outer = isinstance(above, ast.Attribute) and bool(v.apex_names(above))
            if (imported := by_name(node)) is not None and not outer:
                facts.uses[node] = min(v.apex_names(node), default=imported)
            called = v.apex_names(node.func)
            if any(_is(name, "initialize") for name in called):
                facts.initializes.append(_initialize(v, node))
            elif any(_is(name, "scale_loss") for name in called):
                facts.scales.append(_scale(m, v, node))
    _old_api(m, v, facts)
    return facts


def _of_apex_here(m: Module, facts: Facts, node: ast.expr) -> bool:
    """Whether a name that Apex's import gives may be Apex's in this place: the arm of an ``if`` may have another's."""
    alias = import_of(m, node)
    return alias is None or m.statement(alias) in facts.imports


def _number(dotted: str, node: ast.expr) -> bool:
    """Whether a name of Apex is a loss scaler's number, read elsewhere than where it is taken: a plain value."""
    scaler, _, attr = dotted.rpartition(".")
    return scaler.endswith("loss_scalers[]") and not (isinstance(node, ast.Attribute) and node.attr == attr)


def _old_api(m: Module, v: Values, facts: Facts) -> None:
    """``amp.init()`` and ``handle.wrap_optimizer(optimizer)``: an initialize without models, in two calls."""
    calls = m.all(ast.Call)
    for call in calls:
        if not any(_is(name, "init") or name == "apex.amp.amp.init" for name in v.apex_names(call.func)):
            continue
        enabled = argument(call, 0, "enabled")
        options = {} if enabled is None else {"enabled": enabled}
        wraps = [
            w
            for w in calls
            if isinstance(w.func, ast.Attribute)
            and w.func.attr == "wrap_optimizer"
            and w.args
            and any(o.key is call for o in v.of(w.func.value))
        ]
        for wrap in wraps:
            held = objects(v, wrap.args[0])
            facts.initializes.append(Initialize(wrap, [], [wrap.args[0]], frozenset(), held, options, None, call))
            for scale in calls:
                if isinstance(scale.func, ast.Attribute) and scale.func.attr == "scale_loss":
                    if v.of(scale.func.value) & held:
                        facts.scales.append(_wrapped_scale(m, scale, held))
        if not wraps:
            facts.initializes.append(Initialize(call, [], [], frozenset(), frozenset(), options, None, call))


def _wrapped_scale(m: Module, call: ast.Call, held: frozenset[Obj]) -> Scale:
    assert isinstance(call.func, ast.Attribute)
    item = m.parent.get(call)
    with_ = m.parent.get(item) if isinstance(item, ast.withitem) else None
    named = isinstance(item, ast.withitem) and isinstance(item.optional_vars, ast.Name)
    return Scale(
        call=call,
        loss=argument(call, 0, "loss"),
        optimizers=call.func.value,
        optimizer_objects=held,
        with_=with_ if isinstance(with_, ast.With) else None,
        item=item if isinstance(item, ast.withitem) else None,
        alias=item.optional_vars.id if named else None,  # type: ignore[union-attr]
    )


def _is(dotted: str, tail: str) -> bool:
    return dotted in (f"apex.amp.{tail}", f"apex.amp.handle.{tail}", f"apex.amp.frontend.{tail}")


def _initialize(v: Values, call: ast.Call) -> Initialize:
    given: dict[str, ast.expr] = {}
    splat: ast.expr | None = None
    for name, arg in zip(INITIALIZE_PARAMETERS, call.args, strict=False):
        if isinstance(arg, ast.Starred):
            splat = arg.value
            break
        given[name] = arg
    for keyword in call.keywords:
        if keyword.arg is None:
            splat = keyword.value
        else:
            given[keyword.arg] = keyword.value
    models, optimizers = given.pop("models", None), given.pop("optimizers", None)
    return Initialize(
        call=call,
        models=_flat(models),
        optimizers=_flat(optimizers),
        model_objects=frozenset(o for o in objects(v, models) if not no_module(v, o)),
        optimizer_objects=_optimizers(v, optimizers),
        options=given,
        splat=splat,
    )


def _flat(expr: ast.expr | None) -> list[ast.expr]:
    if expr is None or (isinstance(expr, ast.Constant) and expr.value is None):
        return []
    return list(expr.elts) if isinstance(expr, (ast.List, ast.Tuple)) else [expr]


def objects(v: Values, expr: ast.expr | None) -> frozenset[Obj]:
    """What an expression may hold, containers opened."""
    if expr is None:
        return frozenset()
    return opened(v, v.of(expr))


def _optimizers(v: Values, expr: ast.expr | None) -> frozenset[Obj]:
    """What an expression may hold but for schedulers of the learning rate, which lie beside optimizers in what a
    hook gives back (``return [optimizer], [scheduler]``)."""
    return frozenset(o for o in objects(v, expr) if o.kind != "call" or o.label not in TORCH_SCHEDULERS)


def no_module(v: Values, obj: Obj) -> bool:
    """Whether an object is an instance of a class that stands here, bases and all, and is no ``nn.Module``: Apex raises
    where it is handed one as a model. What one registry makes may be a network as well as an optimizer."""
    if obj.kind != "instance" or not isinstance(obj.key, ast.ClassDef):
        return False
    if of_optimizers(v, obj.key):
        return True
    return all(
        isinstance(base, ast.Name)
        and (base.id == "object" or any(o.kind == "class" and o.key is not cls for o in v.of(base)))
        for cls in v.order(obj.key)
        for base in cls.bases
    )


def of_optimizers(v: Values, cls: ast.AST | None) -> bool:
    """Whether a class derives from torch's optimizers: ``torch.optim.SGD``, ``Optimizer``."""
    return isinstance(cls, ast.ClassDef) and any(
        last_name(base) == "Optimizer" or (isinstance(base, ast.Attribute) and last_name(base.value) == "optim")
        for one in v.order(cls)
        for base in one.bases
    )


@once_each
def opened(v: Values, held: frozenset[Obj]) -> frozenset[Obj]:
    """The elements of the containers among ``held``, lists of the file's own classes too, and the rest of ``held``."""
    found: set[Obj] = set()
    todo, seen = list(held), set()
    while todo:
        obj = todo.pop()
        if obj in seen:
            continue
        seen.add(obj)
        if obj.kind in ("seq", "dict"):
            for name in v.attributes(obj):
                todo += v.field(obj, name)
        elif v.field(obj, ITEM_KEY):
            todo += v.field(obj, ITEM_KEY)
        else:
            found.add(obj)
    return frozenset(found)


def _scale(m: Module, v: Values, call: ast.Call) -> Scale:
    optimizers = argument(call, 1, "optimizers")
    whole = _whole(m, call)
    above = m.parent.get(whole)
    item = above if isinstance(above, ast.withitem) else None
    target = item.optional_vars if item is not None else None
    with_ = m.parent.get(item) if item is not None else None
    if item is None:
        with_, target = _entered_elsewhere(m, v, call, whole)
    return Scale(
        call=call,
        loss=argument(call, 0, "loss"),
        optimizers=optimizers,
        optimizer_objects=_optimizers(v, optimizers),
        with_=with_ if isinstance(with_, ast.With) else None,
        item=item,
        alias=target.id if isinstance(target, ast.Name) else None,
        whole=whole,
    )


def _whole(m: Module, call: ast.Call) -> ast.expr:
    """A ``scale_loss`` call with the condition around it, where the other arm hands out the same loss, unscaled."""
    above = m.parent.get(call)
    if not isinstance(above, ast.IfExp) or call is above.test:
        return call
    other = above.orelse if call is above.body else above.body
    loss = argument(call, 0, "loss")
    plain = stands_in(other)
    return above if loss is not None and plain is not None and ast.dump(plain) == ast.dump(loss) else call


def stands_in(expr: ast.expr) -> ast.expr | None:
    """What ``nullcontext(loss)`` hands out; None for anything else."""
    if not isinstance(expr, ast.Call) or expr.keywords or len(expr.args) != 1:
        return None
    return expr.args[0] if called_name(expr) == "nullcontext" else None


def on_stack(m: Module, whole: ast.AST) -> ast.Call | None:
    """The call that enters a context on an ``ExitStack``."""
    call = m.parent.get(whole)
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "enter_context":
        return call if whole in call.args else None
    return None


def _entered_elsewhere(
    m: Module, v: Values, call: ast.Call, whole: ast.expr
) -> tuple[ast.With | None, ast.expr | None]:
    """The one block that enters what a call hands back, and the name it gets there: that of a stack, or another."""
    entered = on_stack(m, whole)
    if entered is not None:
        above = m.parent.get(entered)
        target = above.targets[0] if isinstance(above, ast.Assign) and len(above.targets) == 1 else None
        return _stack(m, entered), target
    found = [
        (node, item.optional_vars)
        for node in m.all(ast.With)
        for item in node.items
        if any(o.key is call for o in v.of(item.context_expr))
    ]
    return found[0] if len(found) == 1 else (None, None)


def _stack(m: Module, entered: ast.Call) -> ast.With | None:
    """The block of the ``ExitStack`` that a context is entered on: the next one around, by its name."""
    assert isinstance(entered.func, ast.Attribute)
    for outer in m.spine(entered)[1:]:
        if isinstance(outer, ast.With):
            last = outer.items[-1]
            named = last.optional_vars is not None and m.src(last.optional_vars) == m.src(entered.func.value)
            return outer if called_name(last.context_expr) == "ExitStack" and named else None
    return None
