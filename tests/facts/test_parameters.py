"""The parameters of functions, by text: annotations and defaults are none of them."""

from __future__ import annotations

import pytest

from migrate.facts.elsewhere import elsewhere, may_run_bit_by_bit, outline
from migrate.facts.parameters import parameters_of

HEADERS = {
    "self, model, *args, **kwargs": ["self", "model", "args", "kwargs"],
    "x, *, model=None": ["x", "model"],
    "agent: Union[Dict, str, None] = None, model=None": ["agent", "model"],
    "run: Callable[[int, Tuple[str, int]], None], model": ["run", "model"],
    "size=(1, 2), sep=', x', model=f(g(1, 2), h)": ["size", "sep", "model"],
    "\n    a: int,\n    b={'k': (1, 2), 'm': 3},\n    c,\n": ["a", "b", "c"],
}


@pytest.mark.parametrize("header", HEADERS)
def test_names_in_order(header: str) -> None:
    assert parameters_of(header) == HEADERS[header]


@pytest.mark.parametrize(
    ("parameter", "called", "found"),
    [("agent: Union[Dict, str] = None", "str", False), ("agent: Union[Dict, str] = None, net=None", "net", True)],
)
def test_a_type_is_no_network_that_somebody_hands_over(parameter: str, called: str, found: bool) -> None:
    """`transformers/file_utils.py` has a generator and calls ``str``: it runs no network later."""
    text = f"def load(path, {parameter}):\n    def opened():\n        yield {called}(path)\n    return opened\n"
    assert may_run_bit_by_bit(outline(text)) is found


def test_networks_are_handed_by_their_place() -> None:
    text = "def embed(names: Dict[str, int], model):\n    return model(names)\n"
    assert elsewhere([outline(text)]).applying == {"embed": frozenset({(1, "model")})}
