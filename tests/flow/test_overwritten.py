"""Items of dictionaries and lists that nobody reads before they are given another value."""

from __future__ import annotations

from textwrap import dedent

import pytest

from migrate.facts.module import Module
from migrate.flow.values import Values
from tests.asking import asked, said

HOLDS = {
    "an item that is given another value": ("d = {'a': A()}\nd['a'] = B()\nask(d['a'])", "A(), B()"),
    "without a call": ("d = {'a': A()}\nd['a'] = b\nask(d['a'])", "B()"),
    "another item": ("d = {'a': A(), 'c': C()}\nd['a'] = b\nask(d['c'])", "C()"),
    "one by one": ("d = {'a': A(), 'c': C()}\nd['a'] = b\nd['c'] = b\nask(d['c'])", "B()"),
    "all of them": ("d = {'a': A(), 'c': C()}\nd['a'] = b\nask(d[x])", "B(), C()"),
    "by update": ("d = {'a': A(), 'c': C()}\nd.update({'a': b}, c=b)\nask(d['a'], d['c'])", "B()|B()"),
    "by update with a name": ("d = {'a': A()}\nd.update(other)\nask(d['a'])", "A()"),
    "by update and two stars": ("d = {'a': A()}\nd.update({**other, 'a': b})\nask(d['a'])", "A(), B()"),
    "by update with two stars": ("d = {'a': A()}\nd.update(**other)\nask(d['a'])", "A()"),
    "an item of a list": ("d = [A(), C()]\nd[0] = b\nask(d[0], d[1])", "B()|C()"),
    "an item of a list with a star": ("d = [A(), *c]\nd[0] = b\nask(d[0])", "A(), B()"),
    "an item of a dictionary in it": ("d = {'a': {'c': A()}}\nd['a']['c'] = b\nask(d['a']['c'])", "B()"),
    "an item of a list in it": ("d = {'a': [A()]}\nd['a'][0] = b\nask(d['a'][0])", "B()"),
    "an item of something in it": ("e = {'c': A()}\nd = {'a': e}\nd['a']['c'] = b\nask(e['c'])", "A(), B()"),
    "behind what is there no more": (
        "d = {'a': {'c': A()}, 'f': A()}\nd['a'] = e\nd['a']['c'] = b\nd['f'] = b\nask(d['f'])",
        "A(), B()",
    ),
    "another under the same key": ("d = {'a': A(), 'a': C()}\nd['a'] = b\nask(d['a'])", "A(), B(), C()"),
    "a key that is not written": ("d = {'a': A(), k: C()}\nd['a'] = b\nask(d['a'])", "A(), B(), C()"),
    "a number for a text": ("d = {'1': A()}\nd[1] = b\nask(d['1'])", "A()"),
    "True for a number": ("d = {1: A()}\nd[True] = b\nask(d[1])", "A()"),
    "a key that is computed": ("d = {'a': A()}\nd[k] = b\nd['a'] = b\nask(d['a'])", "A(), B()"),
    "read in between": ("d = {'a': A()}\nask(d['a'])\nd['a'] = b", "A(), B()"),
    "made of what it was": ("d = {'a': A()}\nd['a'] = [d]\nask(d['a'])", "A(), […]"),
    "of another name": ("d = {'a': A()}\ne['a'] = b\nask(d['a'])", "A()"),
    "behind another statement": ("d = {'a': A()}\nx = 1\nd['a'] = b\nask(d['a'])", "A(), B()"),
    "at times": ("d = {'a': A()}\nif x:\n    d['a'] = b\nask(d['a'])", "A(), B()"),
    "in a try": ("try:\n    d = {'a': A()}\n    d['a'] = b\nexcept E:\n    pass\nask(d['a'])", "A(), B()"),
    "in a function": ("def f():\n    d = {'a': A()}\n    d['a'] = b\n    ask(d['a'])", "B()"),
}


@pytest.mark.parametrize("case", HOLDS)
def test_what_an_item_holds(case: str) -> None:
    text, expected = HOLDS[case]
    m = Module(dedent(f"b = B()\n{text}\n"))
    v = Values(m)
    assert "|".join(said(v.of(one)) for one in asked(m)) == expected
