"""What ``initialize`` gave that goes back where it came from: ``both = initialize([a, b], [c, d]); a, b = both[0]``."""

from __future__ import annotations

import ast

from ..facts.module import Module

Pairs = list[tuple[ast.expr, ast.expr]]


def match(target: ast.expr, value: ast.expr, pairs: Pairs) -> bool:
    """Pair up targets and values, opening literals of equal length."""
    if isinstance(target, (ast.Tuple, ast.List)):
        if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
            starred = any(isinstance(e, ast.Starred) for e in (*target.elts, *value.elts))
            return not starred and all(match(t, v, pairs) for t, v in zip(target.elts, value.elts, strict=True))
        return False
    pairs.append((target, value))
    return True


def parts(target: ast.expr) -> list[ast.expr]:
    """What an assignment gives something to."""
    inner = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
    return [part for one in inner for part in parts(one)] if inner else [target]


def put_back(m: Module, stmt: ast.Assign, models: ast.expr, optimizers: ast.expr | None) -> list[ast.Assign]:
    """The statements right behind that take all of what a statement kept of ``initialize`` apart, and give each part
    the place that it has already; none where anything else asks for what was kept."""
    given = _given(stmt.targets[0], models, optimizers)
    block, index = m.place[stmt]
    found: list[ast.Assign] = []
    left = _reads(m, stmt.targets[0], given)
    if left is None:
        return []
    for later in block.body[index + 1 :]:
        match later:
            case ast.Assign(targets=[target], value=value) if ast.unparse(value) in given:
                pairs: Pairs = []
                there = match(target, given[ast.unparse(value)], pairs)
                if not there or any(ast.unparse(t) != ast.unparse(v) for t, v in pairs):
                    return []
                found.append(later)
                left -= 1
            case _:
                break
    return found if found and left == 0 else []


def _given(target: ast.expr, models: ast.expr, optimizers: ast.expr | None) -> dict[str, ast.expr]:
    """What the names and items that a statement makes of ``initialize`` stand for."""
    match target:
        case ast.Name(id=name) if optimizers is None:
            return {name: models}
        case ast.Name(id=name) if optimizers is not None:
            return {f"{name}[0]": models, f"{name}[1]": optimizers}
        case ast.Tuple(elts=[ast.Name(id=first), ast.Name(id=second)]) if optimizers is not None and first != second:
            return {first: models, second: optimizers}
        case _:
            return {}


def _reads(m: Module, target: ast.expr, given: dict[str, ast.expr]) -> int | None:
    """How often a function reads names that it binds once; None where they are others', or bound again."""
    reads = 0
    for name in {text.partition("[")[0] for text in given}:
        home = m.binding_scope(name, m.scope(target))
        if home is None or not home.is_function or name in home.params or len(m.stores(name, home)) != 1:
            return None
        reads += len(m.uses(name, home)) - 1
    return reads
