"""What a file that is not read with the program has another thread run, by its text."""

from __future__ import annotations

import pytest

from migrate.facts.elsewhere import elsewhere, outline

KEEPER = "class It:\n    def __init__(self, fn, n):\n        self.fn, self.n = fn, n\n\n    def over(self, xs):\n"
THREAD = "class It(threading.Thread):\n    def __init__(self, x, net):\n        self.net = net\n        self.x = x\n\n"
HANDS = {
    "def it(net, xs):\n    return [f.result() for f in [pool.submit(net, x) for x in xs]]\n": {"net"},
    "def it(fn, x):\n    return ThreadPool(1).apply(fn, (x,))\n": {"fn", "x"},
    "def it(fn, x):\n    Thread(target=work, args=(fn, x)).start()\n": {"fn", "x"},
    "async def it(net):\n    return await asyncio.to_thread(net, batch)\n": {"net"},
    "def inner(fn):\n    pool.map(fn, items)\n\ndef it(net):\n    inner(net)\n": {"net"},
    "def it(net):\n    pool.submit(save, net.state_dict())\n": set(),
    "def it(net):\n    net.apply(reset)\n": set(),
    "def it(net, fn):\n    net.apply(fn)\n": set(),
    "def it(frame, fn):\n    return frame.apply(fn, axis=1)\n": set(),
    "def it(net, xs):\n    return list(map(net, xs))\n": set(),
    "def it(net, xs):\n    return list(itertools.starmap(net, xs))\n": set(),
    "def it(net, xs):\n    return workers.starmap(net, batches)\n": {"net"},
}
MADE = {
    f"{KEEPER}        return list(self.pool.map(self.fn, xs))\n": {"fn"},
    f"{KEEPER}        return list(map(self.fn, xs))\n": None,
    f"{THREAD}    def run(self):\n        self.out = self.net(self.x)\n": {"net"},
    f"{THREAD}    def run(self):\n        save(self.x)\n": None,
}


@pytest.mark.parametrize("text", HANDS)
def test_functions(text: str) -> None:
    found = elsewhere([outline(text)]).threading.get("it", frozenset())
    assert {name for _, name in found} == HANDS[text]


@pytest.mark.parametrize("text", MADE)
def test_classes(text: str) -> None:
    found = elsewhere([outline(text)]).threading.get("It")
    assert (found and {name for _, name in found}) == MADE[text]
