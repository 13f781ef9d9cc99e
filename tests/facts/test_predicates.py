"""Functions that only look something up."""

from __future__ import annotations

import ast

import pytest

from migrate.facts.predicates import predicate


@pytest.mark.parametrize(
    ("function", "answer"),
    [
        ("def f(cfg): return cfg.get('precision', 32) == 16", "cfg.get('precision', 32) == 16"),
        ("def f():\n    'Says whether.'\n    return _HAS_APEX", "_HAS_APEX"),
        ("def f(args): return args.fp16 and not args.no_amp", "args.fp16 and (not args.no_amp)"),
        ("def f(args): return getattr(args, 'fp16', False)", "getattr(args, 'fp16', False)"),
        ("def f(cfg): return cfg['level'] in ('O1', 'O2')", "cfg['level'] in ('O1', 'O2')"),
        ("def f(cfg): return cfg.pop('fp16')", None),
        ("def f(cfg): return load(cfg).fp16", None),
        ("def f(cfg):\n    print(cfg)\n    return cfg.fp16", None),
        ("def f(*cfg): return cfg[0]", None),
        ("def f(cfg): return (x := cfg.fp16)", None),
        ("def f(cfg): return [c for c in cfg]", None),
        ("@cache\ndef f(cfg): return cfg.fp16", None),
        ("def f(cfg): return", None),
        ("def f(cfg): yield cfg.fp16", None),
        ("async def f(cfg): return cfg.fp16", None),
    ],
)
def test_what_only_looks_something_up(function: str, answer: str | None) -> None:
    said = predicate(ast.parse(function).body[0])
    assert (said and ast.unparse(said)) == answer
