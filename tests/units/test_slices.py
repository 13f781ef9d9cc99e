"""What a statement defines and reads."""

from __future__ import annotations

import pytest

from migrate.units.slices import Slices
from tests.asking import context

TOP = """\
class C:
    def set(self):
        self.loss = 1
        self.more()
    def more(self):
        self.other = self.loss
        x.out = 1
    @staticmethod
    def static(c):
        c.loss = 1
c = C()
"""

#: A statement, what it may define, what it surely replaces, what it reads.
STATEMENTS = {
    "a = b": ("a", "a", "b"),
    "a, (b, c.x) = d": ("a b c.x", "a b", "c d"),
    "a.b = c": ("a.b", "", "a c"),
    "a[0] = b": ("a", "", "a b"),
    "a += b": ("a", "", "b"),
    "a: int = b": ("a", "", "b int"),
    "for i in b: a = i": ("a i", "", "b i"),
    "with b as a: pass": ("a", "", "b"),
    "if (a := b): c = 1": ("a c", "", "b"),
    "f = lambda: (a := b)": ("f", "f", ""),
    "a.append(b)": ("a", "", "a a.append b"),
    "a.item(b)": ("", "", "a a.item b"),
    "c.set()": ("c.loss c.other", "", "c c.set"),
    "c.static(d)": ("", "", "c c.static d"),
    "a = c.loss.mean()": ("a", "a", "c c.loss c.loss.mean"),
    "x = [i for i in y]": ("i x", "x", "i y"),
}


@pytest.mark.parametrize("text", STATEMENTS)
def test_statement(text: str) -> None:
    ctx = context(TOP + text)
    stmt = ctx.m.tree.body[-1]
    slices = Slices(ctx)
    found = slices.defines(stmt), slices.certain(stmt), slices.reads(stmt)
    assert tuple(" ".join(sorted(one)) for one in found) == STATEMENTS[text]
