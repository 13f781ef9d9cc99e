"""Large tables of constants are not kept, all else is."""

from __future__ import annotations

import ast

from migrate.facts import files, module
from migrate.facts.module import Module


def test_large_tables_are_emptied() -> None:
    rows = ", ".join(f"[{n}, -{n}, 'x{n}']" for n in range(files.LARGE_TABLE))
    table = f"TABLE = [{rows}]\nNAMES = {{{', '.join(f'{n}: None' for n in range(files.LARGE_TABLE + 1))}}}\n"
    mixed = f"MIXED = [{'1, ' * files.LARGE_TABLE}model]\nFEW = [1, 2]\n"
    m = Module(table + mixed + "#" * module.LARGE_TEXT)
    held = {
        stmt.targets[0].id: len(ast.unparse(stmt.value))  # type: ignore[attr-defined]
        for stmt in m.tree.body
    }
    assert held["TABLE"] == held["NAMES"] == 2
    assert held["MIXED"] > files.LARGE_TABLE and held["FEW"] == 6


def test_in_a_file_of_common_size_all_is_kept() -> None:
    assert len(Module("T = [" + "1, " * 1000 + "]").all(ast.Constant)) == 1000
