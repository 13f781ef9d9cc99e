"""Tables of classes in other files: what is made by one of them is no network where none of them is."""

from __future__ import annotations

import pytest

from migrate.facts.elsewhere import elsewhere, outline

FILE = """
class Window:
    def extract_spans(self, rows): return rows
class Fuzzy(Window):
    pass
class Encoder(nn.Module):
    def forward(self, x): return x
"""


@pytest.mark.parametrize(
    ("made", "plain"),
    [
        ("table = {'w': Window, \"f\": Fuzzy}", True),
        ("table: dict[str, type] = {\n    'w': Window,\n    'f': Fuzzy,\n}", True),
        ("table = {'w': Window, 'e': Encoder}", False),
        ("table = {'w': Window, 'e': models.Encoder}", False),
        ("table = {'w': Window()}", False),
        ("table = {'w': Window, **more}", False),
        ("table = {}", False),
        ("table = {'w': Window}\ntable = load()", False),
        ("table = {'w': Window}\ntable['e'] = Encoder", False),
        ("table = {'w': Window}\ntable.update(more)", False),
        ("table = {'w': Window}\nclass Table:\n    table = {'e': Encoder}", True),
    ],
)
def test_tables_of_classes(made: str, plain: bool) -> None:
    assert ("table" in elsewhere([outline(f"{FILE}{made}\n")]).plain) is plain


def test_two_files_with_a_table_of_one_name() -> None:
    nets = outline("class Net(nn.Module):\n    pass\ntable = {'n': Net}\n")
    assert "table" not in elsewhere([outline(f"{FILE}table = {{'w': Window}}\n"), nets]).plain
