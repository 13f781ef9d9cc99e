"""Lines that a rewrite made too long are broken, and nothing but white space and a last comma comes of it."""

from __future__ import annotations

import ast

import pytest

from migrate.rewrite.layout import lay_out
from migrate.rewrite.trace import Run, through

A, B = "a" * 50, "b" * 50
GROUPS = '(p for group in optimizer.param_groups for p in group["params"])'

#: A line of the new text that is too long, and what it becomes.
CASES = {
    "what fits on one line": (f"x = f({A}, {B[:-8]})", f"x = f(\n    {A}, {B[:-8]}\n)"),
    "an argument a line": (f"x = f({A}, {B}, c=1)", f"x = f(\n    {A},\n    {B},\n    c=1,\n)"),
    "a header": (f"with f({A}, {B[:-8]}):\n    pass", f"with f(\n    {A}, {B[:-8]}\n):\n    pass"),
    "a definition": (
        f"def f({A}, {B}, *, c=1):\n    pass",
        f"def f(\n    {A},\n    {B},\n    *,\n    c=1,\n):\n    pass",
    ),
    "a generator takes no comma": (f"f({A} + x for x in {B})", f"f(\n    {A} + x for x in {B}\n)"),
    "an alignment goes": (f"n = clip_the_gradients({GROUPS}, \n         args.norm_of_them)", None),
    "a comment stays": (f"x = f({A}, {B}, # here\n      c)", None),
    "no call": (f"x = [{A}, {B}]", f"x = [{A}, {B}]"),
    "a string": (f'x = "{A}({B})"', f'x = "{A}({B})"'),
    "brackets in an f-string": (f'x = f"{A}{{g(1)}}{B}"', f'x = f"{A}{{g(1)}}{B}"'),
    "an item is no call": (f"x[{A}, {B}] = 1", f"x[{A}, {B}] = 1"),
    "the outer call": (f"x = f(g({A}), {B[:-10]})", f"x = f(\n    g({A}), {B[:-10]}\n)"),
    "behind the call": (f"x = f({A}, {B[:-8]}) / g()", f"x = f(\n    {A}, {B[:-8]}\n) / g()"),
    "a comma is there": (f"x = f({A}, {B},)", f"x = f(\n    {A},\n    {B},\n)"),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_case(case: str, newline: str) -> None:
    text, wanted = (None if t is None else f"{t}\n".replace("\n", newline) for t in CASES[case])
    assert text is not None
    got, _ = lay_out("old\n", text, [], "    ")
    assert ast.dump(ast.parse(got)) == ast.dump(ast.parse(text))
    if wanted is not None:
        assert got == wanted


def test_an_alignment_of_several_lines() -> None:
    text = f"gradient_norm = clip_the_gradient_norm_({GROUPS},\n{' ' * 31}args.max_norm)\n"
    got, _ = lay_out("", text, [], "  ")
    assert got == f"gradient_norm = clip_the_gradient_norm_(\n  {GROUPS}, args.max_norm\n)\n"
    many = f"f(a,\n  {A}, {B[:-8]}, scaler,\n  b)\n"
    assert lay_out("", many, [], "  ")[0] == f"f(a,\n  {A}, {B[:-8]},\n  scaler, b)\n"


def test_what_was_too_long_stays() -> None:
    text = f"x = f({A}, {B})\n"
    assert lay_out(f"if y:\n    {text}", text, [], "    ")[0] == text  # only its indentation is another
    old = f"x = g({A}, {B})\n"
    assert lay_out(old, text, [Run(0, 0, 4)], "    ")[0] == text
    wide = "".join(f"y{n} = {'c' * 100}\n" for n in range(3))
    assert lay_out(wide, text, [], "    ")[0] == text  # 109 characters, in a file that goes beyond 100


def test_traces_go_through() -> None:
    text = f"x = f({A}, {B})\n"
    old = text.replace("f(", "ff(")
    got, runs = lay_out("short\n", text, [Run(0, 0, 5), Run(5, 6, len(text) - 5)], "    ")
    assert got != text
    for run in runs:
        assert got[run.new : run.new + run.length] == old[run.old : run.old + run.length]
    assert through([Run(0, 2, 4)], [Run(0, 10, 3), Run(3, 20, 9)]) == [Run(0, 12, 1), Run(1, 20, 3)]
    assert through([Run(0, 0, 2)], []) == []
