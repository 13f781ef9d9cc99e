"""What the options of ``amp.initialize`` come to natively.

O1 is autocast with a scaler, O0 neither. O2 and O3 keep half-precision weights, which autocast does
not: they become autocast too, and the difference is named. Source: apex/amp/frontend.py at tag 25.05.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeGuard

from ..facts.module import Module
from ..facts.sites import Initialize
from ..flow.values import Values
from ..nodes import walk
from .class_levels import class_levels
from .conditions import FALSE, TRUE, Conditions, Term, argparse_dest, negation
from .presets import listed_options

INITIAL_SCALE = 2.0**16
_SIMPLE = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Constant, ast.JoinedStr)  # need no parentheses


@dataclass
class Options:
    """The native meaning of one call's options.

    ``enabled`` are the conditions of mixed precision with the expressions they come from; ``reviews``
    name each difference; ``scale`` is the text of a static scale, ``static_when`` the condition under
    which a variable one is static."""

    enabled: list[tuple[ast.expr, Term]] = field(default_factory=list)
    reviews: list[str] = field(default_factory=list)
    infos: list[str] = field(default_factory=list)
    unscaled: bool = False  # autocast without loss scaling (O3, or a static scale of 1)
    scale: str | None = None
    static_when: Term | None = None
    init_scale: str | None = None
    begins: ast.stmt | None = None  # what sets the loss scale by hand before any loss is scaled
    levels: frozenset[str] = frozenset({"O1"})  # that may be meant; "O1" stands in for the unknown ones


def read(
    m: Module,
    c: Conditions,
    init: Initialize,
    scaled: bool = True,
    known: Callable[[ast.expr], frozenset[object] | None] = lambda expr: None,
) -> Options:
    """The native meaning of one call's options. ``known`` says every value that an expression can have, or None."""
    out = Options()
    options = dict(init.options)
    enabled = options.pop("enabled", None)
    if enabled is not None:
        out.enabled.append((enabled, c.term(enabled)))
    level = options.pop("opt_level", None)
    levels = _level(m, c, out, level, init, known)
    out.levels = frozenset(levels | {"O1"} if "?" in levels else levels)
    if init.splat is not None:
        _splat(m, out, init.splat, level)
    if scaled:
        scale = options.pop("loss_scale", None)
        _loss_scale(m, c, out, scale if scale is None else _one_value(scale, known(scale)), levels)
        _bounds(m, out, options)
    losses = options.pop("num_losses", None)
    if losses is not None and not (isinstance(losses, ast.Constant) and losses.value == 1):
        out.reviews.append(
            f"num_losses={m.src(losses)}: Apex kept one loss scale per loss; one GradScaler holds a single scale"
        )
    outputs = options.pop("cast_model_outputs", None)
    if outputs is not None and not _is_none(outputs):
        out.reviews.append(
            f"cast_model_outputs={m.src(outputs)}: outputs leave the autocast region in their own type; cast them "
            "where they are used"
        )
    model_type = options.pop("cast_model_type", None)
    if model_type is not None and not _is_none(model_type) and not m.src(model_type).endswith("float32"):
        out.reviews.append(f"cast_model_type={m.src(model_type)}: autocast keeps the weights in float32")
    elif model_type is not None and not _is_none(model_type) and levels & {"O1", "?"}:
        out.reviews.append(
            f"cast_model_type={m.src(model_type)}: Apex cast the model's output to float32, under autocast it may be "
            "float16"
        )
    patched = options.get("patch_torch_functions")
    on = isinstance(patched, ast.Constant) and patched.value is not False
    if patched is not None and levels & {"O1", "?"} and not on:
        out.reviews.append(
            f"patch_torch_functions={_flat(m.src(patched))}: where it is False Apex scaled the loss and cast nothing; "
            "autocast casts: take its regions out then"
        )
    if levels & {"O2", "O3", "?"}:
        batchnorm = options.get("keep_batchnorm_fp32")
        if isinstance(batchnorm, ast.Constant) and batchnorm.value in (False, "False"):
            out.reviews.append("keep_batchnorm_fp32=False: under autocast batch norm keeps float32 parameters")
    for name in ("keep_batchnorm_fp32", "master_weights"):
        value = options.get(name)
        if value is not None and not isinstance(value, ast.Constant):
            out.infos.append(f"{name}={_flat(m.src(value))} has no counterpart in autocast: it is not read any more")
    return out


_SCALED_AT_O0 = (
    'loss_scale="dynamic": with it Apex scaled the loss at O0 as well, and left out steps with gradients that are not '
    "finite; the scaler is off at O0 now, and takes them"
)
_KEPT_AT_O2 = (
    "O2 made the weights float16, and nothing trains here; they stay in float32 now, which takes twice their "
    "memory, and half as much again for autocast's copies: model.half(), with a float16 input, is what O2 did"
)
_TRAINED_AT_O2 = (
    "O2 kept float16 weights with float32 masters and cast the model's input to float16 and its output to "
    "float32; autocast keeps float32 weights, casts per operation, and outputs may be float16"
)
# Options of which these values change nothing.
_AS_BY_DEFAULT: dict[str, tuple[object, ...]] = {
    "enabled": (True,),
    "loss_scale": ("dynamic", None),
    "num_losses": (1,),
    "cast_model_outputs": (None,),
    "cast_model_type": (None,),
    "keep_batchnorm_fp32": (None,),
    "master_weights": (None,),
}
_CHANGES = {
    "O0": "",
    "O1": "",
    "O2": ", whose float16 copies of the weights are gone, and outputs may be float16",
    "O3": ", whose float16 weights are float32 now: that takes more memory",
}


def _is_none(expr: ast.expr) -> bool:
    return isinstance(expr, ast.Constant) and expr.value in (None, False)


def _one_value(expr: ast.expr, values: frozenset[object] | None) -> ast.expr:
    """The one value that an expression is known to have, as a literal; the expression itself otherwise."""
    if values is None or len(values) != 1:
        return expr
    (value,) = values
    return ast.Constant(value=value) if isinstance(value, (str, float, int, type(None))) else expr


def _level(
    m: Module,
    c: Conditions,
    out: Options,
    level: ast.expr | None,
    init: Initialize,
    known: Callable[[ast.expr], frozenset[object] | None],
) -> set[str]:
    """Adds the level's condition, and returns the levels that may be meant ("?" where any may)."""
    if level is None:
        return {"O1"} if init.splat is None else (_plain_levels(m, init.splat) or {"?"})
    literal = levels_of(m, level)
    if literal is None:
        held = known(level) or frozenset()
        texts = {value for value in held if isinstance(value, str)}
        literal = texts if texts and len(texts) == len(held) else None
    literal = literal or _asked_for(m, level, init.call)
    if literal is None:
        values, text = {"?"}, m.src(level)
    else:
        values, text = literal, m.src(level)
    if values == {"O0"}:
        out.enabled.append((level, FALSE))
    elif "O0" in values or "?" in values:
        said = _conditional(m, level)
        asked = said.test if isinstance(said, ast.IfExp) and said is not level else level
        out.enabled.append((asked, _not_o0(c, said, text)))
    for one, change in (
        ("O2", _TRAINED_AT_O2 if init.optimizers else _KEPT_AT_O2),
        ("O3", "O3 ran wholly in float16; autocast keeps float32 weights and casts per operation"),
    ):
        if values == {one}:
            out.reviews.append(change)
        elif one in values:
            by_default = _by_default(m, level).partition(", ")[0]
            when = f"opt_level={_flat(text)} is decided at run time{by_default}; where it is {one}"
            out.reviews.append(f"{when}: {change}")
    if "?" in values:
        out.reviews.append(
            f"opt_level={_flat(text)} is decided at run time: O0 switches autocast off, every other level becomes "
            f"what O1 was{_by_default(m, level)}"
        )
    if values == {"O3"}:
        out.unscaled = True
    return values


def _asked_for(m: Module, level: ast.expr, call: ast.Call) -> set[str] | None:
    """The levels that a condition around an initialize leaves: ``if args.level == "O1":``, where nothing sets it in
    there; None where none says so."""
    said = m.src(level)
    if not isinstance(level, (ast.Name, ast.Attribute)):
        return None
    below: ast.AST = call
    for outer in m.ancestors(call):
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return None
        if isinstance(outer, ast.If) and below in outer.body:
            tests = outer.test.values if _all_hold(outer.test) else [outer.test]
            found = next((values for test in tests if (values := _equal_to(m, test, said)) is not None), None)
            stores = (n for stmt in outer.body for n in walk(stmt) if isinstance(n, (ast.Name, ast.Attribute)))
            root = said.partition(".")[0]
            set_there = any(isinstance(n.ctx, ast.Store) and m.src(n) in (said, root) for n in stores)
            if found is not None and not set_there:
                return found
        below = outer
    return None


def _all_hold(test: ast.expr) -> TypeGuard[ast.BoolOp]:
    return isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And)


def _equal_to(m: Module, test: ast.expr, said: str) -> set[str] | None:
    """The words that a comparison says an expression is one of."""
    match test:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[ast.Constant(value=str() as one)]):
            return {one} if m.src(left) == said else None
        case ast.Compare(left=ast.Constant(value=str() as one), ops=[ast.Eq()], comparators=[right]):
            return {one} if m.src(right) == said else None
        case ast.Compare(left=left, ops=[ast.In()], comparators=[ast.Tuple() | ast.List() | ast.Set() as held]):
            words = {e.value for e in held.elts if isinstance(e, ast.Constant) and isinstance(e.value, str)}
            return words if m.src(left) == said and len(words) == len(held.elts) else None
        case _:
            return None


def _by_default(m: Module, level: ast.expr) -> str:
    """What the level is where nobody says another, and what that comes to."""
    if not isinstance(level, ast.Attribute):
        return ""
    said: dict[str, int] = {}
    for node in m.calls("add_argument"):
        if isinstance(node.func, ast.Attribute) and argparse_dest(node) == level.attr:
            default = next((k.value for k in node.keywords if k.arg == "default"), None)
            if isinstance(default, ast.Constant) and isinstance(default.value, str):
                said.setdefault(default.value, default.lineno)
    if len(said) != 1:
        return ""
    ((value, line),) = said.items()
    change = _CHANGES.get(value)
    return "" if change is None else f"; by default (line {line}) it is {value}{change}"


def _flat(text: str) -> str:
    return " ".join(text.split())


def _conditional(m: Module, level: ast.expr) -> ast.expr:
    """``"O1" if half else "O0"`` where a local variable is given that once: what it asks then says more than the level.
    What is asked has to be a name that is bound once as well."""
    scope = m.scope(level)
    if not isinstance(level, ast.Name) or level.id in scope.params or m.binding_scope(level.id, scope) is not scope:
        return level
    match [m.parent[n] for n in m.stores(level.id, scope)]:
        case [ast.Assign(targets=[ast.Name()], value=ast.IfExp(test=ast.Name(id=asked)) as said)]:
            bound = len(m.stores(asked, scope)) + (asked in scope.params)
            arms = [one.value == "O0" for one in (said.body, said.orelse) if isinstance(one, ast.Constant)]
            own = m.binding_scope(asked, scope) is scope
            return said if own and bound == 1 and sorted(arms) == [False, True] else level
        case _:
            return level


def _not_o0(c: Conditions, level: ast.expr, text: str) -> Term:
    if isinstance(level, ast.IfExp):
        one, other = level.body, level.orelse
        if isinstance(one, ast.Constant) and isinstance(other, ast.Constant):
            test = c.term(level.test)
            if one.value == "O0" and other.value != "O0":
                return negation(test)
            if other.value == "O0" and one.value != "O0":
                return test
    simple = isinstance(level, _SIMPLE)
    text = _flat(text)
    return Term(f'{text} != "O0"' if simple else f'({text}) != "O0"', 3, boolean=True)


def levels_of(
    m: Module, level: ast.expr, depth: int = 0, asked: frozenset[str] = frozenset()
) -> set[str] | None:
    """Every value an ``opt_level`` expression can have; None where that is not known.

    ``asked`` are attributes whose values it is asked for: `self.opt_level = args.opt_level` adds none to them."""
    if depth > 3:
        return None
    match level:
        case ast.Constant(value=str() as value):
            return {value}
        case ast.IfExp(body=one, orelse=other):
            first, second = levels_of(m, one, depth + 1, asked), levels_of(m, other, depth + 1, asked)
            return None if first is None or second is None else first | second
        case ast.Name(id=name):
            scope = m.binding_scope(name, m.scope(level))
            if scope is None or name in scope.params:
                return None
            stores = [
                m.parent[n]
                for n in m.stores(name, scope)
            ]
            found: set[str] = set()
            for store in stores:
                inner = levels_of(m, store.value, depth + 1, asked) if isinstance(store, ast.Assign) else None
                if inner is None:
                    return None
                found |= inner
            return found or None
        case ast.Attribute(attr=attr) as level:
            if attr in asked:
                return set()
            known = class_levels(m, level)
            return known if known is not None else _argparse_levels(m, attr, asked | {attr})
        case _:
            return None


def _argparse_levels(m: Module, attr: str, asked: frozenset[str]) -> set[str] | None:
    """Choices of an argparse option, where it has a default and choices and nothing else sets it."""
    found: set[str] = set()
    known = False
    for node in m.calls("add_argument"):
        if isinstance(node.func, ast.Attribute):
            if argparse_dest(node) == attr:
                words = {k.arg: k.value for k in node.keywords}
                choices, default = words.get("choices"), words.get("default")
                if not isinstance(choices, (ast.List, ast.Tuple)) or not isinstance(default, ast.Constant):
                    return None
                found |= {str(e.value) for e in choices.elts if isinstance(e, ast.Constant)} | {str(default.value)}
                known = True
    for target in m.attributes(attr):
        if isinstance(target.ctx, ast.Store):
            store = m.parent[target]
            inner = levels_of(m, store.value, 2, asked) if isinstance(store, ast.Assign) else None
            if inner is None:
                return None
            found |= inner
    return found if known or found else None


def _plain_levels(m: Module, splat: ast.expr) -> set[str] | None:
    """The levels among options that a table of the file gives, where these are O0 and O1 alone and nothing else in
    there matters: what Apex does without them, or what it prints."""
    rows = listed_options(m, splat)
    found: set[str] = set()
    for row in rows or ():
        for name, value in row.items():
            constant = value.value if isinstance(value, ast.Constant) else ...
            if name == "opt_level" and constant in ("O0", "O1"):
                continue
            if name != "verbosity" and (name not in _AS_BY_DEFAULT or constant not in _AS_BY_DEFAULT[name]):
                return None
        level, scale = row.get("opt_level"), row.get("loss_scale")
        said = str(level.value) if isinstance(level, ast.Constant) else ""
        if scale is not None and said != "O1" and not _is_none(scale):
            return None  # with a dynamic one Apex scaled at O0 as well
        found.add(said or "O1")
    return found or None


def _splat(m: Module, out: Options, splat: ast.expr, level: ast.expr | None) -> None:
    text = m.src(splat)
    plain = level is None and _plain_levels(m, splat) is not None
    if level is None:
        if not plain:
            out.enabled.append((splat, Term(f'{text}.get("enabled", True)')))
        out.enabled.append((splat, Term(f'{text}.get("opt_level", "O1") != "O0"', 3, boolean=True)))
    if plain:
        return
    levels = "; O0 switches autocast off, every other level becomes what O1 was (O2 and O3 kept float16 weights)"
    out.reviews.append(
        f"**{text}: of these options only enabled and opt_level are still read; a static loss scale, bounds of the "
        f"scale or casts in there no longer act{levels if level is None else ''}"
    )


def _loss_scale(m: Module, c: Conditions, out: Options, scale: ast.expr | None, levels: set[str]) -> None:
    if scale is None or (isinstance(scale, ast.Constant) and scale.value in (None, "dynamic")):
        if scale is not None and not _is_none(scale):
            out.unscaled = False  # O3 with a dynamic scale
            if "O0" in levels:
                out.reviews.append(_SCALED_AT_O0)
        return
    scale = _literal(m, scale)
    if isinstance(scale, ast.Constant) and scale.value in (None, "dynamic"):
        return
    out.unscaled = False
    if isinstance(scale, ast.Constant):
        try:
            value = float(scale.value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            value = 0.0
        if value == 1.0:
            out.unscaled = True
            if levels - {"O0", "O1"}:
                out.reviews.append("loss_scale=1.0 becomes autocast without a loss scale")
            return
        out.scale, out.static_when = repr(value), TRUE
        out.reviews.append(
            f"a static loss scale of {value:g}: GradScaler skips a step whose gradients overflow, Apex took it"
        )
        return
    value_text, when, number = _flat(m.src(scale)), None, None
    if isinstance(scale, ast.IfExp):
        arms = [scale.body, scale.orelse]
        dynamic = [isinstance(a, ast.Constant) and a.value in ("dynamic", None) for a in arms]
        match scale.test:  # `scale if scale == "dynamic" else float(scale)`
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[ast.Constant(value="dynamic")]):
                dynamic[0] |= ast.dump(left) == ast.dump(scale.body)
            case _:
                pass
        if dynamic == [True, False]:
            number, when = scale.orelse, negation(c.term(scale.test))
        elif dynamic == [False, True]:
            number, when = scale.body, c.term(scale.test)
        value_text = _flat(m.src(number)) if number is not None else value_text
    whole = isinstance(number, ast.Call) and isinstance(number.func, ast.Name) and number.func.id == "float"
    out.scale = _number(number) or (value_text if whole else f"float({value_text})")
    tested = value_text if isinstance(scale, _SIMPLE) else f"({value_text})"
    out.static_when = when or Term(f'{tested} not in (None, "dynamic")', 3, boolean=True)
    out.reviews.append(
        f"loss_scale={_flat(m.src(scale))} may be static: GradScaler skips a step whose gradients overflow, Apex took "
        "it"
    )


def _number(expr: ast.expr | None) -> str | None:
    """A loss scale that is written out, as a number: ``"128.0"`` was one to Apex."""
    try:
        return repr(float(expr.value)) if isinstance(expr, ast.Constant) else None  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


def _literal(m: Module, expr: ast.expr) -> ast.expr:
    """The literal that a local name is always assigned; the expression itself otherwise."""
    if not isinstance(expr, ast.Name):
        return expr
    scope = m.binding_scope(expr.id, m.scope(expr))
    if scope is None or expr.id in scope.params:
        return expr
    values = [
        m.parent[n]
        for n in m.stores(expr.id, scope)
    ]
    if len(values) == 1 and isinstance(values[0], ast.Assign):
        value = values[0].value
        arms = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
        if all(isinstance(a, ast.Constant) for a in arms):
            return value
    return expr


def _bounds(m: Module, out: Options, options: dict[str, ast.expr]) -> None:
    low, high = options.pop("min_loss_scale", None), options.pop("max_loss_scale", None)
    if low is not None and not _is_none(low):
        out.reviews.append(f"min_loss_scale={m.src(low)}: GradScaler has no lower bound")
    if high is not None and not _is_none(high):
        out.reviews.append(f"max_loss_scale={m.src(high)}: GradScaler has no upper bound")
        try:
            bound = float(ast.literal_eval(high))
        except (ValueError, TypeError, SyntaxError):
            try:
                bound = float(eval_power(high))
            except (ValueError, TypeError):
                return
        if bound < INITIAL_SCALE:
            out.init_scale = repr(bound)


def begin_with(m: Module, v: Values, init: Initialize, out: Options) -> None:
    """``amp._amp_state.loss_scalers[0]._loss_scale = 2**20`` behind initialize: a GradScaler begins with it."""
    stmt = set_at_once(m, v, init)
    if stmt is not None and out.scale is None and not out.unscaled:
        out.begins, out.init_scale = stmt, _flat(m.src(stmt.value))


def set_at_once(m: Module, v: Values, init: Initialize) -> ast.Assign | None:
    """The assignment of a number to the loss scale that stands right behind an initialize, in its block."""
    block, index = m.place[m.statement(init.call)]
    following = block.body[index + 1 : index + 2]
    match following:
        case [ast.Assign(targets=[ast.Attribute(value=owner, attr="_loss_scale")], value=value) as stmt]:
            numbers = isinstance(value, ast.Constant) or _is_power(value)
            if numbers and any(name.endswith("loss_scalers[]") for name in v.apex_names(owner)):
                return stmt
        case _:
            pass
    return None


def _is_power(expr: ast.expr) -> bool:
    try:
        return eval_power(expr) > 0
    except ValueError:
        return False


def eval_power(expr: ast.expr) -> float:
    """The value of ``2 ** 24`` and the like; ValueError for anything else."""
    match expr:
        case ast.BinOp(
            left=ast.Constant(value=int() | float() as base),
            op=ast.Pow(),
            right=ast.Constant(value=int() | float() as exponent),
        ):
            return float(base**exponent)
        case _:
            raise ValueError("not a power")


def written_number(text: str | None) -> bool:
    """Whether a loss scale is a number that stands there, or none: it means the same in any function."""
    try:
        return text is None or isinstance(ast.literal_eval(text), (int, float))
    except (ValueError, SyntaxError):
        return False
