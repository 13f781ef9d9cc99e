"""How the arguments of a call meet the parameters of a function."""

from __future__ import annotations

import ast


def argument(call: ast.Call, position: int, name: str) -> ast.expr | None:
    """The argument a call gives for a parameter, by position or by name; None where it gives none.

    A position below 0 is that of an object before the arguments (``self``).
    """
    if 0 <= position < len(call.args) and not any(isinstance(a, ast.Starred) for a in call.args[: position + 1]):
        return call.args[position]
    return next((k.value for k in call.keywords if k.arg == name), None)


def initialized(call: ast.Call) -> list[ast.expr]:
    """What a call of ``initialize`` gives back as a pair: models and optimizers that it is handed; nothing where one is
    missing."""
    handed = [argument(call, 0, "models"), argument(call, 1, "optimizers")]
    return [one for one in handed if one is not None] if None not in handed else []


def default_of(function: ast.AST, name: str) -> ast.expr | None:
    """What a parameter is where nobody hands it anything; None where it has to be handed."""
    assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    args = function.args
    positional = [*args.posonlyargs, *args.args]
    pairs = [*zip(reversed(positional), reversed(args.defaults), strict=False)]
    pairs += [(p, d) for p, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is not None]
    return next((default for parameter, default in pairs if parameter.arg == name), None)


def fits(call: ast.Call, args: ast.arguments, positional: list[str]) -> bool:
    """Whether a call's arguments fill a function's parameters."""
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return True
    if len(call.args) > len(positional) and args.vararg is None:
        return False
    filled = {*positional[: len(call.args)], *(k.arg for k in call.keywords)}
    required = positional[: len(positional) - len(args.defaults)] if args.defaults else positional
    return all(name in filled for name in required)
