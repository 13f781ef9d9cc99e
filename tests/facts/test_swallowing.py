"""What keeps exceptions to itself in a file that is not read with the program, by its text."""

from __future__ import annotations

from textwrap import indent

import pytest

from migrate.facts.elsewhere import elsewhere, outline

AROUND = "def it(*kinds):\n    def wrap(fn):\n        def inner(*args, **kw):\n{}        return inner\n"
TRIED = indent("try:\n    return fn(*args, **kw)\nexcept kinds:\n    pass\n", " " * 12)
KEEPS = [
    "def it(fn, *args):\n    try:\n        return fn(*args)\n    except ValueError:\n        return None\n",
    "def it(fn):\n    try:\n        return fn()\n    except OSError:\n        raise\n    finally:\n        return 1\n",
    "async def it(fn):\n    try:\n        await fn()\n    except (KeyError, IndexError) as e:\n        log(e)\n",
    "@contextmanager\ndef it(log):\n    try:\n        yield log\n    except OSError:\n        log.append(1)\n",
    AROUND.format(TRIED) + "    return wrap\n",
    "class it:\n    def __exit__(self, kind, value, tb):\n        return kind is OSError\n",
]
DOES_NOT = [
    "def it(fn):\n    try:\n        return fn()\n    except ValueError:\n        save()\n        raise\n",
    "def it(fn):\n    try:\n        return fn()\n    except KeyboardInterrupt:\n        return None\n",
    "def it(fn):\n    try:\n        import apex\n    except ImportError:\n        apex = None\n    return fn()\n",
    "def it(fn):\n    try:\n        value = load()\n    except OSError:\n        value = None\n    return fn(value)\n",
    "def it(fn):\n    try:\n        return fn()\n    finally:\n        close()\n",
    "class it:\n    def __exit__(self, *exc):\n        self.close()\n",
    "class it:\n    def __exit__(self, *exc):\n        return False\n",
    "def it(fn) broken:\n    try:\n        return fn()\n    except ValueError:\n        return None\n",
]


@pytest.mark.parametrize("text", KEEPS)
def test_what_keeps_them(text: str) -> None:
    assert elsewhere([outline(text)]).swallowing == {"it"}


@pytest.mark.parametrize("text", DOES_NOT)
def test_what_does_not(text: str) -> None:
    assert not elsewhere([outline(text)]).swallowing


def test_several_files() -> None:
    one, other = elsewhere([outline(KEEPS[0])]), elsewhere([outline(KEEPS[0].replace("it(", "that("))])
    assert one.with_(other).swallowing == {"it", "that"}
