"""What a name may hold."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from migrate.facts.module import Module
from migrate.flow.values import Values
from tests.asking import asked, contents, said

HOLDS = {
    "what a call made": ("x = A()\nask(x)", "A()"),
    "all that is assigned to it": ("x = A()\nif y:\n    x = B()\nask(x)", "A(), B()"),
    "another name": ("x = A()\ny = z = x\nask(z)", "A()"),
    "an annotated name": ("x: T = A()\nask(x)", "A()"),
    "what is added to it": ("x = A()\nx += B()\nask(x)", "A(), B()"),
    "what one of those registered gives": (
        "@singledispatch\ndef f(x):\n    return A()\n@f.register\ndef g(x: int):\n    return B()\nask(f(1))",
        "A(), B()",
    ),
    "a walrus": ("if (x := A()):\n    ask(x)", "A()"),
    "its value itself": ("ask((x := A()))", "A()"),
    "either arm": ("ask(A() if y else B())", "A(), B()"),
    "either side": ("ask(A() or B())", "A(), B()"),
    "one of a dictionary's values": ("d = {}\nd['a'], d['b'] = A(), B()\nask(list(d.values())[1])", "A(), B()"),
    "what is awaited": ("async def f():\n    ask(await A())", "A()"),
    "a with": ("with A() as x:\n    ask(x)", "A()"),
    "a name that nothing binds": ("ask(x)", ""),
    "an import of another module": ("import torch\nask(torch)", ""),
    "the second function of a name": ("def f():\n    return A()\ndef f():\n    return B()\nask(f())", "B()"),
    "both, where the first was called": (
        "def f():\n    return A()\nx = f()\ndef f():\n    return B()\nask(f())",
        "A(), B()",
    ),
    "both, where another called the first": (
        "def g():\n    return f()\ndef f():\n    return A()\nask(g())\ndef f():\n    return B()",
        "A(), B()",
    ),
    "both, where a decorator has the first": (
        "@keep\ndef f():\n    return A()\ndef f():\n    return B()\nask(f())",
        "A(), B()",
    ),
    "both, where one is made under a condition": (
        "def f():\n    return A()\nif x:\n    def f():\n        return B()\nask(f())",
        "A(), B()",
    ),
    # attributes
    "an attribute": ("class C:\n    pass\nc = C()\nc.x = A()\nask(c.x)", "A()"),
    "the same attribute of another class": (
        "class C:\n    pass\nclass D:\n    pass\nc, d = C(), D()\nc.x = A()\nd.x = B()\nask(c.x)",
        "A()",
    ),
    "of what is not from here": ("x = A()\nx.y = B()\nask(x.y)", "B()"),
    "that nobody sets": ("x = A()\nask(x.y.z)", "A.y.z"),
    "not for ever": ("x = A()\nask(x.a.b.c.d)", ""),
    "a class's own": ("class C:\n    x = A()\nask(C.x, C().x)", "A()"),
    "a base's": ("class C:\n    x = A()\nclass D(C):\n    pass\nask(D().x)", "A()"),
    "a property": ("class C:\n    @property\n    def x(self):\n        return A()\nask(C().x)", "A()"),
    "a method": ("class C:\n    def x(self):\n        return A()\nask(C().x)", "method x"),
    "set in another method": (
        "class C:\n    def set(self):\n        self.x = A()\n    def get(self):\n        ask(self.x)",
        "A()",
    ),
    "set in a base": (
        "class C:\n    def __init__(self):\n        self.x = A()\nclass D(C):\n    def get(self):\n        ask(self.x)",
        "A()",
    ),
    "by setattr": ("class C:\n    pass\nc = C()\nsetattr(c, 'x', A())\nask(c.x)", "A()"),
    "by setattr, the beginning": (
        "class C:\n    pass\nc = C()\nsetattr(c, 'net' + name, A())\nask(c.net_a, c.net)",
        "A()",
    ),
    "by setattr, another beginning": (
        "class C:\n    pass\nc = C()\nc.x = D()\nsetattr(c, 'net' + name, A())\nask(c.x)",
        "D()",
    ),
    "by setattr, any name but a method's": (
        "class C:\n    def x(self):\n        pass\nc = C()\nsetattr(c, name, A())\nask(c.x)",
        "method x",
    ),
    "by setattr, names of a copy of a list": (
        "class C:\n    names = ['a']\n    def __init__(self):\n        self.x = D()\n"
        "        names = sorted(self.names)\n        print(names)\n"
        "        for name in names:\n            setattr(self, name, A())\nask(C().x)",
        "D()",
    ),
    "by setattr, the end": ("class C:\n    pass\nc = C()\nsetattr(c, f'{name}_pool', A())\nask(c.a_pool)", "A()"),
    "by setattr, another end": (
        "class C:\n    pass\nc = C()\nc.pools = D()\nsetattr(c, f'{name}_pool', A())\nask(c.pools)",
        "D()",
    ),
    "by setattr, both ends": (
        "class C:\n    pass\nc = C()\nsetattr(c, 'net_%s_%d' % x, A())\nask(c.net_a_1)",
        "A()",
    ),
    "by setattr, a text": ("class C:\n    pass\nc = C()\nsetattr(c, 'a{}b'.format(x), B())\nask(c.acb, c.ab)", "B()"),
    "by setattr, a text in pieces": (
        "class C:\n    pass\nc = C()\nc.aba = D()\nsetattr(c, 'ab' + x + 'ba', A())\nask(c.aba)",
        "D()",
    ),
    "by getattr, the beginning": (
        "class C:\n    pass\nc = C()\nc.net_a, c.x = [], {}\nask(getattr(c, 'net_' + name))",
        "[…]",
    ),
    "no other call gives the attribute that it names": (
        "class C:\n    pass\nc = C()\nc.net = A()\nask(find(c, 'net'))",
        "find()",
    ),
    "a function of the file by a name that is made": (
        "def f_a(x):\n    return A()\ndef f_b(x):\n    return B()\ndef g(x):\n    return C()\n"
        "ask(globals()['f_' + n](1))",
        "A(), B(), call()",
    ),
    "one that is asked for, and takes what it is handed": (
        "def f_a(x):\n    return A()\ndef f_b():\n    return B()\nask(globals().get('f_' + n)(1))",
        "A(), call()",
    ),
    "one of any name": ("def f(x):\n    return A()\nask(globals()[n](1))", "call()"),
    "by setattr and getattr": (
        "class C:\n    pass\nc = C()\nsetattr(c, 'net' + x, [])\nsetattr(c, 'p' + x, {})\nask(getattr(c, f'net{y}'))",
        "[…]",
    ),
    "by setattr and getattr, any": (
        "class C:\n    pass\nc = C()\nsetattr(c, x, [])\nask(getattr(c, f'net{y}'))",
        "[…]",
    ),
    "by getattr, names of a list": (
        "class C:\n    pass\nc = C()\nc.x, c.y = A(), B()\nfor n in ['x', 'z']:\n    ask(getattr(c, n))",
        "A(), getattr()",
    ),
    "by getattr, names of a list that an attribute holds": (
        "class C:\n    pass\nc = C()\nc.names = ['x']\nc.x, c.y = A(), B()\nask([getattr(c, n) for n in c.names][0])",
        "A(), getattr()",
    ),
    "by setattr, names of a list": (
        "class C:\n    pass\nc = C()\nc.y = B()\nfor n in ('x',):\n    setattr(c, n, A())\nask(c.y)",
        "B()",
    ),
    "by setattr, names of a list that grows by a word": (
        "class C:\n    pass\nc = C()\nc.y = B()\nc.names = ['x']\nc.names.append('z')\n"
        "for n in c.names:\n    setattr(c, n, A())\nask(c.y)",
        "B()",
    ),
    "by setattr, names of a list that grows by this one": (
        "class C:\n    pass\nc = C()\nc.y = B()\nc.names = ['x']\nc.names.append('y')\n"
        "for n in c.names:\n    setattr(c, n, A())\nask(c.y)",
        "A(), B()",
    ),
    "by setattr, names of a list that grows": (
        "class C:\n    pass\nc = C()\nc.y = B()\nc.names = ['x']\nc.names.append(s)\n"
        "for n in c.names:\n    setattr(c, n, A())\nask(c.y)",
        "A(), B()",
    ),
    "by setattr, names of a list beside another one": (
        "class C:\n    names = ['x']\nc = C()\nc.y = B()\nfor n, m in zip(c.names, [A()]):\n    setattr(c, n, m)\n"
        "ask(c.y)",
        "B()",
    ),
    "by setattr, names of a list that are counted": (
        "class C:\n    pass\nc = C()\nc.y = B()\nfor i, n in enumerate(['x']):\n    setattr(c, n, A())\nask(c.y)",
        "B()",
    ),
    "by setattr, what stands beside the names": (
        "class C:\n    pass\nc = C()\nc.y = B()\nfor m, n in zip(['x'], s):\n    setattr(c, n, A())\nask(c.y)",
        "A(), B()",
    ),
    "by setattr, names of rows that are not told apart": (
        "class C:\n    pass\nc = C()\nc.y = B()\nfor n, m in zip(*s):\n    setattr(c, n, A())\nask(c.y)",
        "A(), B()",
    ),
    "by setattr, names of a class's list that another class has too": (
        "class C:\n    names = ['x']\nclass D(C):\n    names = ['y']\nc = D()\nc.y = B()\n"
        "for n in c.names:\n    setattr(c, n, A())\nask(c.y)",
        "A(), B()",
    ),
    "by setattr, names of a class's list that is made": (
        "class C:\n    names = ['x'] + s\nc = C()\nc.y = B()\nfor n in c.names:\n    setattr(c, n, A())\nask(c.y)",
        "A(), B()",
    ),
    "by setattr, names of a list that change on the way": (
        "class C:\n    pass\nc = C()\nc.y = B()\nfor n in ['x']:\n    n = n + s\n    setattr(c, n, A())\nask(c.y)",
        "A(), B()",
    ),
    "an item of a list of its own class": ("class L(list):\n    pass\nfor x in L([A(), B()]):\n    ask(x)", "A(), B()"),
    "its first item": ("class L(list):\n    pass\nask(L([A()])[0])", "A()"),
    "an item put in": ("class L(list):\n    pass\nx = L()\nx.append(A())\nx[1] = B()\nask(x[0])", "A(), B()"),
    "an item from inside": (
        "class L(list):\n    def get(self):\n        for x in self:\n            ask(x)\nL([A()]).get()",
        "A()",
    ),
    "an item through the constructor": (
        "class L(list):\n    def __init__(self, n, x):\n        super().__init__(x)\nask(L(1, [A()])[0])",
        "A()",
    ),
    "an attribute of a list of its own class": (
        "class L(list):\n    def __init__(self, x):\n        super().__init__(x)\n        self.y = B()\n"
        "ask(L([A()]).y)",
        "B()",
    ),
    "by setattr, the names of a dictionary": (
        "class C:\n    def __init__(self, **more):\n        self.y = B()\n        for k, v in more.items():\n"
        "            setattr(self, k, v)\nc = C(x=A(), z=D())\nask(c.x)",
        "A()",
    ),
    "by setattr, the keys of a dictionary": (
        "class C:\n    def __init__(self, **more):\n        for k in more.keys():\n"
        "            setattr(self, k, more[k])\nc = C(x=A(), z=D())\nask(c.x)",
        "A()",
    ),
    "by setattr, the names of a dictionary that change on the way": (
        "class C:\n    def __init__(self, **more):\n        for k, v in more.items():\n            k = k + s\n"
        "            setattr(self, k, v)\nc = C(x=A(), z=D())\nask(c.x)",
        "A(), D()",
    ),
    "by setattr, the items of a dictionary that change on the way": (
        "class C:\n    def __init__(self, **more):\n        for k, v in more.items():\n            v = D()\n"
        "            setattr(self, k, v)\nc = C(x=A())\nask(c.x)",
        "D()",
    ),
    "by setattr, the names of a dictionary whose keys are not known": (
        "class C:\n    def __init__(self, **more):\n        for k, v in more.items():\n"
        "            setattr(self, k, v)\nc = C(**{s: A()})\nask(c.x)",
        "A()",
    ),
    "by setattr, the variables of a function": (
        "class C:\n    def __init__(self, x, y):\n        self.keep(locals())\n"
        "    def keep(self, given):\n        for k, v in given.items():\n"
        "            if k != 'self':\n                setattr(self, k, v)\nc = C(A(), B())\nask(c.x)",
        "A()",
    ),
    "a variable by its name": ("def f(x, y):\n    ask(locals()['x'])\nf(A(), B())", "A()"),
    "by setattr, any": ("class C:\n    pass\nc = C()\nsetattr(c, name, A())\nask(c.x)", "A()"),
    "by getattr": ("class C:\n    pass\nc = C()\nc.x = A()\nask(getattr(c, 'x'))", "A(), getattr()"),
    "by getattr, any": (
        "class C:\n    pass\nc = C()\nc.x, c.y = A(), B()\nask(getattr(c, name))",
        "A(), B(), getattr()",
    ),
    "by getattr, one of a list of names": (
        "class C:\n    pass\nc = C()\nc.a_step, c.model, c.b = A(), B(), D()\ndef f():\n"
        "    names = ['%s_step' % s for s in x]\n    ask(getattr(c, random.choice(names)))",
        "A(), getattr()",
    ),
    "by getattr, one of a list of names by a number": (
        "class C:\n    pass\nc = C()\nc.a_step, c.model, c.b = A(), B(), D()\ndef f():\n"
        "    names = ['a_step', 'b']\n    name = names[i]\n    ask(getattr(c, name))",
        "A(), D(), getattr()",
    ),
    "by getattr, one of a list of names that grows": (
        "class C:\n    pass\nc = C()\nc.a_step, c.model, c.b = A(), B(), D()\ndef f():\n"
        "    names = ['a_step']\n    names.append(x)\n    ask(getattr(c, random.choice(names)))",
        "A(), B(), D(), getattr()",
    ),
    # containers
    "an item by number": ("x = [A(), B()]\nask(x[1])", "B()"),
    "an item by a variable": ("x = [A(), B()]\nask(x[i])", "A(), B()"),
    "an item set": ("x = {}\nx['a'] = A()\nx['b'] = B()\nask(x['a'])", "A()"),
    "an item set under a variable": ("x = {}\nx[k] = A()\nask(x['a'])", "A()"),
    "a slice": ("x = [A(), B()]\nask(x[1:])", "[…]"),
    "of a slice": ("x = [A(), B(), C()]\ny = x[1:]\nask(y[i])", "B(), C()"),
    "of a slice, by its number": ("x = [A(), B(), C()]\nask(x[1:][0])", "B()"),
    "of a slice, from the end": ("x = [A(), B()]\nask(x[-1:][0])", "A(), B()"),
    "of a slice of what is not known": ("ask(x()[1:])", "x()"),
    "by a name for a number": ("x = [A(), B()]\nat = 1\nask(x[at])", "B()"),
    "by a name for a number, given twice": ("x = [A(), B()]\nat = 0\nat += 1\nask(x[at])", "A(), B()"),
    "by a name for a number, a parameter": ("x = [A(), B()]\ndef f(at=0):\n    ask(x[at])", "A(), B()"),
    "by a number and its text": ("x = {1: A(), '1': B()}\nask(x[1])", "A()"),
    "updated": ("x = {}\nx.update({'a': A()}, b=B())\nask(x['a'], x['a'])", "A()"),
    "updated, by name": ("x = {}\nx.update(a=A())\nask(x['a'])", "A()"),
    "mapped": ("def f(x):\n    return x\nfor y in map(f, [A(), B()]):\n    ask(y)", "A(), B()"),
    "appended": ("x = []\nx.append(A())\nask(x[0])", "A()"),
    "several appended": ("x = [A()]\nx.extend([B()])\nask(x[0])", "A(), B()"),
    "several put together": ("x = [A()] + y + [B()]\nask(x[0])", "A(), B()"),
    "a sum of others": ("ask(A() + B())", ""),
    "inserted": ("x = [A()]\nx.insert(0, B())\nask(x[i])", "A(), B()"),
    "a dict": ("x = {'a': A(), 'b': B()}\nask(x['b'])", "B()"),
    "a dict spread": ("x = {**y, 'b': B()}\nask(x['b'])", "B()"),
    "a list spread": ("x = [A(), B()]\ny = [*x, C()]\nask(y[i])", "A(), B(), C()"),
    "a comprehension": ("x = [A(i) for i in n]\nask(x[0])", "A()"),
    "of a list": ("x = [A(), B()]\ny = [i for i in x]\nask(y[0])", "A(), B()"),
    "a dict comprehension": ("x = {i: A(i) for i in n}\nask(x['a'])", "A()"),
    # unpacking
    "of a tuple": ("x, y = A(), B()\nask(y)", "B()"),
    "nested": ("(x, y), z = (A(), B()), C()\nask(y)", "B()"),
    "the rest": ("x, *y = A(), B(), C()\nask(y[i])", "A(), B(), C()"),
    "of a call": ("x, y = f()\nask(x)", "f.0"),
    "of a function's pair": ("def f():\n    return A(), B()\nx, y = f()\nask(x)", "A()"),
    # loops
    "each of a list": ("for x in [A(), B()]:\n    ask(x)", "A(), B()"),
    "not the list": ("x = [A()]\nfor y in x:\n    pass\nask(y)", "A()"),
    "with its number": ("for i, x in enumerate([A(), B()]):\n    ask(x)", "A(), B()"),
    "the number itself": ("for i, x in enumerate([A(), B()]):\n    ask(i)", ""),
    "a method by a computed name": (
        "class C:\n    def go(self):\n        return A()\n    def no(self):\n        return B()\n"
        "def run(c, name):\n    ask(getattr(c, name)())\nrun(C(), 'go')",
        "A()",
    ),
    "a method by a name that is put together": (
        "class C:\n    def on_go(self):\n        return A()\n    def go(self):\n        return B()\n"
        "def run(c, event):\n    ask(getattr(c, f'on_{event}')())\nrun(C(), 'go')",
        "A()",
    ),
    "a class of a registry": (
        "class R:\n    def __init__(self):\n        self.d = {}\n    def add(self, cls):\n"
        "        self.d[cls.__name__] = cls\n        return cls\n    def build(self, name):\n"
        "        return self.d[name]()\nr = R()\n@r.add\nclass C:\n    def go(self):\n        return A()\n"
        "ask(r.build('C').go())",
        "A()",
    ),
    "attributes of a dictionary": (
        "class C:\n    def __init__(self, **kw):\n        self.__dict__.update(kw)\nask(C(x=A(), y=B()).x)",
        "A()",
    ),
    "side by side, counted": ("for i, (x, y) in enumerate(zip([A()], [B()])):\n    ask(y)", "B()"),
    "side by side under a name": ("pairs = list(zip([A()], [B()]))\nfor x, y in pairs:\n    ask(x)", "A()"),
    "a dictionary's pairs": ("d = {'a': (A(), B())}\nfor k, (x, y) in d.items():\n    ask(y)", "B()"),
    "a dictionary by name": ("d = dict(a=A(), b=B())\nask(d['a'])", "A()"),
    "what a wrapper wraps, not the wrapper": (
        "class W:\n    def __init__(self, o):\n        self.optimizer = o\nw = W(A())\n"
        "ask(w.optimizer if hasattr(w, 'optimizer') else w)",
        "A()",
    ),
    "what a list holds, however often it is multiplied in a loop": (
        "fs = [A()]\nfor n in (1, 2):\n    fs = fs * n\n    fs = n * fs\nask(fs[0])",
        "A()",
    ),
    "or the wrapper that wraps at times": (
        "class W:\n    def __init__(self, o):\n        if o:\n            self.optimizer = o\nw = W(A())\n"
        "ask(w.optimizer if hasattr(w, 'optimizer') else w)",
        "<W>, A()",
    ),
    "or one that another object sets": (
        "class W:\n    def __init__(self, o, other):\n        other.optimizer = o\nw = W(A(), W(A(), x))\n"
        "ask(w.optimizer if hasattr(w, 'optimizer') else w)",
        "<W>, A()",
    ),
    "what it was before a class took its name": (
        "class W:\n    def __init__(self, o):\n        self.o = o\nw = A()\nif x:\n    w = W(w)\nask(w.o)",
        "A()",
    ),
    "a block's name is what its header gave": (
        "with one() as x:\n    pass\nwith two() as x:\n    ask(x)",
        "two()",
    ),
    "of several items": (
        "with one() as x:\n    pass\nwith two() as x, three(ask(x)) as y:\n    pass\nask(x)",
        "one(), two()",
    ),
    "of a block in a block": ("x = A()\nwith one() as x:\n    if c:\n        x = B()\n    ask(x)", "A(), B(), one()"),
    "of a list of names": ("with one() as (x, y):\n    pass\nwith two() as (x, y):\n    ask(x)", "one.0, two.0"),
    "what a region gave": (
        "with torch.autocast('cuda'):\n    x = A()\nwith torch.autocast('cuda'):\n    x = B()\nask(x)",
        "B()",
    ),
    "what a block gave that may be left": ("x = A()\nwith suppress(E):\n    x = B()\nask(x)", "A(), B()"),
    "what a region may give": ("x = A()\nwith torch.autocast('cuda'):\n    if c:\n        x = B()\nask(x)", "A(), B()"),
    "a name is what it was given last": ("x = A()\nx = B()\nask(x)", "B()"),
    "also in a block": (
        "def f(c):\n    x = A()\n    if c:\n        x = B()\n        with c:\n            ask(x)",
        "B()",
    ),
    "not behind a block": ("def f(c):\n    x = A()\n    if c:\n        x = B()\n    ask(x)", "A(), B()"),
    "nor ahead of what a loop gives it": ("x = A()\nfor y in z:\n    ask(x)\n    x = B()", "A(), B()"),
    "in a loop, behind that": ("x = A()\nfor y in z:\n    x = B()\n    ask(x)", "B()"),
    "nor in a handler": ("try:\n    x = A()\n    x = B()\nexcept E:\n    ask(x)", "A(), B()"),
    "nor where a function sets it": ("x = A()\ndef f():\n    global x\n    x = B()\nx = A()\nf()\nask(x)", "A(), B()"),
    "nor in another function": (
        "def f():\n    x = A()\n    def g():\n        ask(x)\n    x = B()\n    return g",
        "A(), B()",
    ),
    "a parameter that is given something": ("def f(x):\n    x = B()\n    ask(x)\nf(A())", "B()"),
    "what unknown code makes of itself": ("x = A()\nx = wrap(x)\nask(x)", "A(), wrap()"),
    "not what is made of what is handed on": (
        "from apex import amp\nm, x = M(), A()\nm, x = amp.initialize(m, x)\nask(x)\nx = B(x)",
        "A()",
    ),
    "but by unknown code of that name": (
        "x = A()\nx = engine.initialize(x)\nask(x)\nx = B(x)",
        "A(), B(), initialize()",
    ),
    "and by what is called within": (
        "from apex import amp\nm, x = M(), A()\nm, x = amp.initialize(m, wrap(x))\nask(x)\nx = B(x)",
        "A(), B(), wrap()",
    ),
    "a name that objects have, too": (
        "class C:\n    def f(self):\n        self.x = A()\nx = B()\nx = D(x)\nask(x)",
        "B(), D()",
    ),
    "a name of a file that is set from outside": (
        "class C:\n    def f(self, m):\n        m.x = A()\nx = B()\nx = D(x)\nask(x)",
        "B(), D()",
    ),
    "the test of a loop": ("x = A()\nx = B()\nwhile ask(x):\n    x = A()", "A(), B()"),
    "in a walrus": ("x = A()\nx = B()\nif (x := A()) and ask(x):\n    pass", "A(), B()"),
    "or in a round before": (
        "class W:\n    def __init__(self, o):\n        self.o = o\nw = A()\nfor x in y:\n    w = W(o=w)\nask(w.o)",
        "<W>, A()",
    ),
    "a dictionary made of another": ("d = {'a': A()}\ne = dict(d, b=B())\nask(e['a'])", "A()"),
    "what a factory makes under any key": (
        "d = defaultdict(list)\nd[k].append(A())\nfor x in d[n]:\n    ask(x)",
        "A()",
    ),
    "what a lambda makes there": ("d = defaultdict(lambda: A())\nask(d['a'])", "A()"),
    "what it was filled with": ("d = defaultdict(list, {'a': A()}, b=B())\nask(d['b'])", "B(), […]"),
    "a copied one": ("d = {'a': A(), 'b': B()}\ne = dict(d)\nask(e['b'])", "B()"),
    "one made of names and values": ("n = ('a', 'b')\nd = dict(zip(n, [A(), B()]))\nask(d['b'])", "B()"),
    "one made of names that are written there": ("d = dict(zip(['a', 'b'], [A(), B()]))\nask(d['a'])", "A()"),
    "one comprehended so": ("d = {k: x for k, x in zip(('a', 'b'), (A(), B()))}\nask(d['b'])", "B()"),
    "one of names that change": (
        "def f():\n    n = ['a', 'b']\n    n.reverse()\n    d = dict(zip(n, [A(), B()]))\n    ask(d['b'])",
        "A(), B()",
    ),
    "one of names from elsewhere": ("def f(n):\n    d = dict(zip(n, [A(), B()]))\n    ask(d['b'])", "A(), B()"),
    "one of values in another order": ("d = dict(zip(('a', 'b'), reversed([A(), B()])))\nask(d['b'])", "A(), B()"),
    "items by name": (
        "d = {'a': A(), 'b': B()}\ndef f():\n    n = ['a', 'b']\n    x, y = [d[k] for k in n]\n    ask(y)",
        "B()",
    ),
    "items of some names": (
        "d = {'a': A(), 'b': B()}\ndef f():\n    n = ['a', 'b']\n    x, y = [d[k] for k in n if k]\n    ask(y)",
        "A(), B()",
    ),
    "one made of pairs": ("e = dict([('a', A())])\nask(e['a'])", "dict.a"),
    "one that takes in another": ("d = {'a': A(), 'b': B()}\nask({**d, 'c': C()}['a'])", "A()"),
    "one that takes in what is not known": ("ask({**d(), 'c': C()}['c'])", "C(), d()"),
    "items of another, by their keys": ("d = {'a': A(), 'b': B()}\ne = {k: d[k] for k in d}\nask(e['a'])", "A()"),
    "by keys that are listed": ("d = {'a': A(), 'b': B()}\ne = {k: d[k] for k in d.keys() if y}\nask(e['a'])", "A()"),
    "items of another": ("d = {'a': A(), 'b': B()}\ne = {k: v for k, v in d.items() if k != 'b'}\nask(e['a'])", "A()"),
    "items the other way round": ("d = {'a': A()}\ne = {v: k for k, v in d.items()}\nask(e['a'])", ""),
    "by keys of something else": ("d = {'a': A(), 'b': B()}\ne = {k: d[k] for k in c}\nask(e['a'])", "A(), B()"),
    "handed on by two stars": ("def f(a, b):\n    ask(a)\nd = {'a': A(), 'b': B()}\nf(**dict(d, c=C()))", "A()"),
    "a dictionary by name and another": ("d = dict(a=A(), **{'b': B()})\nask(d['b'])", "B()"),
    "side by side": ("for x, y in zip([A()], [B()]):\n    ask(y)", "B()"),
    "of a dict": ("for k, x in {'a': A()}.items():\n    ask(x)", "A()"),
    "its values": ("for x in {'a': A()}.values():\n    ask(x)", "A()"),
    "of pairs": ("for x, y in [(A(), B())]:\n    ask(y)", "B()"),
    "each of what is not from here": ("for x in f():\n    ask(x)", "f.*"),
    "the next one": ("x = iter([A()])\nask(next(x))", "A(), […]"),
    # functions
    "a parameter that nobody fills": ("def f(x):\n    ask(x)", "x"),
    "a parameter": ("def f(x):\n    ask(x)\nf(A())\nf(B())", "A(), B()"),
    "by name": ("def f(y, x):\n    ask(x)\nf(x=A(), y=B())", "A()"),
    "keyword only": ("def f(*, x):\n    ask(x)\nf(x=A())", "A()"),
    "a default": ("def f(x=A()):\n    ask(x)\nf()", "A()"),
    "a keyword's default": ("def f(y, *, x=A()):\n    ask(x)\nf(1)", "A()"),
    "the last defaults": ("def f(y, x=A()):\n    ask(y)\nf(B())", "B()"),
    "more arguments": ("def f(y, *x):\n    ask(x[0])\nf(A(), B(), C())", "B(), C()"),
    "named ones": ("def f(**kw):\n    ask(kw['x'])\nf(x=A(), y=B())", "A()"),
    "handed on by name": ("def f(x):\n    ask(x)\ndef g(**kw):\n    f(**kw)\ng(x=A())", "A()"),
    "handed on in order": ("def f(x, y=None):\n    ask(y)\ndef g(*a):\n    f(*a)\ng(A(), B())", "B()"),
    "handed on behind another": ("def f(x, y, z=None):\n    ask(y)\ndef g(*a):\n    f(C(), *a)\ng(A(), B())", "A()"),
    "handed on twice": (
        "def f(x, y=None):\n    ask(y)\ndef g(*a):\n    f(*a)\ndef h(*b):\n    g(*b)\nh(A(), B())",
        "B()",
    ),
    "handed on into more": ("def f(x, *y):\n    ask(y[0])\ndef g(*a):\n    f(*a)\ng(A(), B())", "B()"),
    "handed on from a row": ("def f(x, y=None):\n    ask(y)\ndef g(*a):\n    f(*a)\ng(*[A(), B()])", "A(), B()"),
    "handed on changed": (
        "def f(x, y=None):\n    ask(y)\ndef g(*a):\n    a = turned(a)\n    f(*a)\ng(A(), B())",
        "A(), B()",
    ),
    "handed on by another name": (
        "def f(x, y=None):\n    ask(y)\ndef g(*a):\n    b = a\n    f(*b)\ng(A(), B())",
        "A(), B()",
    ),
    "spread into more": ("def f(*x):\n    ask(x[0])\nf(*[A(), B()])", "A(), B()"),
    "a name it has not": ("def f(x, **kw):\n    ask(kw['x'])\nf(x=A())", ""),
    "a tuple spread": ("def f(y, x):\n    ask(x)\nz = (A(), B())\nf(*z)", "B()"),
    "a tuple spread behind another": ("def f(y, x, z):\n    ask(x)\nf(A(), *(B(), C()))", "B()"),
    "a tuple spread into more": ("def f(y, *x):\n    ask(x[0])\nf(*(A(), B(), C()))", "B(), C()"),
    "behind what is spread": ("def f(y, x):\n    ask(x)\nf(*(A(),), B())", "B()"),
    "spread into a record": (
        "@dataclass\nclass R:\n    a: object\n    b: object = None\nask(R(*(A(), B())).b)",
        "B()",
    ),
    "spread into a record by names": (
        "@dataclass\nclass R:\n    a: object\n    b: object = None\nk = dict(a=A(), b=B())\nask(R(**k).b)",
        "B()",
    ),
    "spread into a namespace": ("k = {'a': A(), 'b': B()}\nask(SimpleNamespace(**k).b)", "B()"),
    "spread": ("def f(y, x):\n    ask(x)\nf(*[A(), B()])", "A(), B()"),
    "too few arguments": ("def f(x, y):\n    ask(x)\nf(A())", "x"),
    "too many arguments": ("def f(x):\n    ask(x)\nf(A(), B())", "x"),
    "what it returns": ("def f(y):\n    return A()\nask(f(1))", "A()"),
    "what it hands on": ("def f(x):\n    return x\nask(f(A()))", "A()"),
    "what a lambda returns": ("f = lambda: A()\nask(f())", "A()"),
    "a generator's": ("def f():\n    yield A()\nask(f())", "[…]"),
    "what a generator yields": ("def f():\n    yield A()\nfor x in f():\n    ask(x)", "A()"),
    "what a generator hands on": (
        "def f():\n    yield A()\ndef g():\n    yield from f()\nfor x in g():\n    ask(x)",
        "A()",
    ),
    "what an iterator gives": (
        "class C:\n    def __iter__(self):\n        return self\n    def __next__(self):\n        return A()\n"
        "for x in C():\n    ask(x)",
        "A()",
    ),
    "what a loader's generator yields": (
        "class C:\n    def __iter__(self):\n        yield A()\nfor x in C():\n    ask(x)",
        "A()",
    ),
    "what a context manager yields": (
        "@contextmanager\ndef f():\n    yield A()\nwith f() as x:\n    ask(x)",
        "A()",
    ),
    "what a closure sees": ("def f():\n    x = A()\n    def g():\n        ask(x)\n    g()", "A()"),
    "a nonlocal": ("def f():\n    x = A()\n    def g():\n        nonlocal x\n        x = B()\n    ask(x)", "A(), B()"),
    "a global": ("def f():\n    global x\n    x = A()\nask(x)", "A()"),
    "a local of the same name": ("x = A()\ndef f():\n    x = B()\n    ask(x)", "B()"),
    "a class's name in its method": ("class C:\n    x = A()\n    def f(self):\n        ask(x)", ""),
    "a function in a dict": ("def f(x):\n    ask(x)\nways = {'f': f}\nways[way](A())", "A()"),
    "a partial": ("def f(x, y):\n    ask(y)\ng = partial(f, A())\ng(B())", "B()"),
    "of a partial": ("def f(x, y):\n    ask(x)\ng = partial(f, A())\ng(B())", "A()"),
    "what a partial returns": ("def f(x):\n    return x\ng = partial(f, A())\nask(g())", "A()"),
    "a weak reference": ("import weakref\nr = weakref.ref(A())\nask(r())", "A(), r()"),
    "a partial's keyword": ("def f(x, y):\n    ask(y)\ng = partial(f, y=A())\ng(B())", "A()"),
    # classes
    "an instance": ("class C:\n    pass\nask(C())", "<C>"),
    "of its constructor": ("class C:\n    def __init__(self, x):\n        ask(x)\nC(A())", "A()"),
    "of a base's constructor": (
        "class C:\n    def __init__(self, x):\n        ask(x)\nclass D(C):\n    pass\nD(A())",
        "A()",
    ),
    "through super": (
        "class C:\n    def __init__(self, x):\n        ask(x)\n"
        "class D(C):\n    def __init__(self, y):\n        super().__init__(y)\nD(A())",
        "A()",
    ),
    "through super as Python 2 has it": (
        "class C:\n    def __init__(self, x):\n        ask(x)\n"
        "class D(C):\n    def __init__(self, x):\n        super(D, self).__init__(A())\nD(B())",
        "A()",
    ),
    "through super of a class that is named": (
        "class B:\n    def f(self, x):\n        ask(x)\nclass C(B):\n    def f(self, x): pass\n"
        "class D(C):\n    def f(self, x):\n        super(C, self).f(A())\nD().f(B())",
        "A()",
    ),
    "through super, past a sibling": (
        "class B:\n    def f(self, x): pass\nclass C(B):\n    def f(self, x):\n        super().f(x)\n"
        "class D(B):\n    def f(self, x):\n        ask(x)\nclass E(C, D): pass\nE().f(A())",
        "A()",
    ),
    "through the base's name": (
        "class C:\n    def __init__(self, x):\n        ask(x)\n"
        "class D(C):\n    def __init__(self, y):\n        C.__init__(self, y)\nD(A())",
        "A()",
    ),
    "itself": ("class C:\n    def f(self):\n        ask(self)", "<C>"),
    "or a subclass": ("class C:\n    def f(self):\n        ask(self)\nclass D(C):\n    pass", "<C>, <D>"),
    "a method's argument": ("class C:\n    def f(self, x):\n        ask(x)\nC().f(A())", "A()"),
    "of the class": ("class C:\n    def f(self, x):\n        ask(x)\nC.f(C(), A())", "A()"),
    "a static method's": ("class C:\n    @staticmethod\n    def f(x):\n        ask(x)\nC().f(A())", "A()"),
    "a class method's": ("class C:\n    @classmethod\n    def f(cls, x):\n        ask(x)\nC.f(A())", "A()"),
    "what a class method makes": (
        "class C:\n    @classmethod\n    def f(cls):\n        return cls()\nask(C.f())",
        "<C>",
    ),
    "an overridden method's": (
        "class C:\n    def f(self):\n        self.g(A())\n    def g(self, x):\n        pass\n"
        "class D(C):\n    def g(self, x):\n        ask(x)",
        "A()",
    ),
    "forward": ("class C:\n    def forward(self, x):\n        ask(x)\nC()(A())", "A()"),
    "called": ("class C:\n    def __call__(self, x):\n        return x\nc = C()\nask(c(A()))", "A(), c()"),
    "a record": ("@dataclass\nclass C:\n    x: int\n    y: int\nask(C(A(), B()).y)", "B()"),
    "a record by name": ("@dataclass\nclass C:\n    x: int\nask(C(x=A()).x)", "A()"),
    # what hands on what it is given
    "a wrapped model": ("x = DataParallel(A())\nask(x)", "A(), DataParallel()"),
    "moved, or a copy": ("x = A().cuda()\nask(x)", "A(), cuda()"),
    "twice": ("x = A()\ny = x.to(d).train()\nask(y)", "A(), to(), train()"),
    "the wrapped": ("x = A()\nask(x.module)", "A()"),
    "a method of its own by such a name": (
        "class C:\n    def train(self):\n        return A()\nask(C().train())",
        "A()",
    ),
    "that hands it on to torch's": (
        "class C(Module):\n    def train(self, on=True):\n        return super().train(on)\nask(C().train())",
        "<C>",
    ),
    "a decorated one": (
        "class C:\n    @timed\n    def train(self):\n        return 1\nask(C().train())",
        "<C>",
    ),
    "no longer the same": ("x = A()\nask(x.detach())", "detach()"),
    # Apex
    "amp": ("from apex import amp\nask(amp)", "apex.amp"),
    "amp by another name": ("import apex.amp as mixed\nask(mixed.scale_loss)", "apex.amp.scale_loss"),
    "of the package": ("import apex.amp\nask(apex.amp.scale_loss)", "apex.amp.scale_loss"),
    "a name of it": ("from apex.amp import scale_loss as s\nask(s)", "apex.amp.scale_loss"),
    "another package of that beginning": ("import apexlib\nask(apexlib)", ""),
    "a sibling": ("from .apex import amp\nask(amp)", ""),
    "in an attribute": (
        "from apex import amp\nclass C:\n    def f(self):\n        self.a = amp\n        ask(self.a)",
        "apex.amp",
    ),
    "or None": ("try:\n    from apex import amp\nexcept ImportError:\n    amp = None\nask(amp)", "apex.amp"),
    "what initialize hands back": (
        "from apex import amp\nx, y = amp.initialize(A(), B(), opt_level='O1')\nask(y)",
        "B()",
    ),
    "without an optimizer": (
        "from apex import amp\nx = amp.initialize(A(), opt_level='O1')\nask(x)",
        "A(), initialize()",
    ),
    "with None": ("from apex import amp\nx = amp.initialize(A(), None)\nask(x)", "A(), initialize()"),
    "lists": ("from apex import amp\nx, (y, z) = amp.initialize(A(), [B(), C()])\nask(z)", "C()"),
    "by its names": ("from apex import amp\nx, y = amp.initialize(optimizers=B(), models=A())\nask(x)", "A()"),
    "Apex's own wrapper": ("from apex.parallel import DistributedDataParallel as D\nask(D(A()))", "A(), D()"),
}


@pytest.mark.parametrize("case", HOLDS)
def test_may_hold(case: str) -> None:
    text, answer = HOLDS[case]
    m = Module(text)
    v = Values(m)
    for question in asked(m):
        assert said(v.of(question)) == answer


def test_a_long_row_reaches_a_parameter_with_a_star() -> None:
    m = Module("def f(first, *rest):\n    ask(rest)\n\nnet = Net()\nf(*(" + "1, " * 30 + "net))\n")
    v = Values(m)
    assert contents(v, v.of(asked(m)[0])) == "Net()"


def test_items_of_a_starred_call() -> None:
    m = Module("x = [A(), B()]\ny = f(*x)\nask(x)")
    v = Values(m)
    assert contents(v, v.of(asked(m)[0])) == "A(), B()"


RUNS = {
    "a function": ("def f(): pass\nask(f())", "f"),
    "none of another file": ("ask(f())", ""),
    "either": ("def f(): pass\ndef g(): pass\nh = f if x else g\nask(h())", "f, g"),
    "a method": ("class C:\n    def f(self): pass\nask(C().f())", "f"),
    "a constructor": ("class C:\n    def __init__(self): pass\nask(C())", "__init__"),
    "a forward": ("class C:\n    def forward(self): pass\nc = C()\nask(c())", "forward"),
    "a base's forward": ("class B:\n    def forward(self): pass\nclass C(B): pass\nc = C()\nask(c())", "forward"),
    "that of either base": (
        "class A:\n    def __call__(self): pass\nclass B:\n    def forward(self): pass\nD = A\nif x:\n    D = B\n"
        "class C(D): pass\nask(C()())",
        "__call__, forward",
    ),
    "of either base, or of the next": (
        "class A: pass\nclass B:\n    def forward(self): pass\nclass E:\n    def __call__(self): pass\n"
        "D = A\nif x:\n    D = B\nclass C(D, E): pass\nask(C()())",
        "__call__, forward",
    ),
    "not of the next where each has it": (
        "class A:\n    def __call__(self): pass\nclass B:\n    def forward(self): pass\nclass E:\n"
        "    def __init__(self): pass\n    def __call__(self): pass\nD = A\nif x:\n    D = B\n"
        "class C(D, E): pass\nask(C()())",
        "__call__, forward",
    ),
    "a partial": ("def f(x): pass\ng = partial(f, 1)\nask(g())", "f"),
    "a partial of itself": ("def f(x, y): pass\ng = f\nif x:\n    g = partial(g, 1)\nh = partial(g, 2)\nask(h())", "f"),
    "a partial of a method": ("class C:\n    def f(self, x): pass\ng = partial(C().f, 1)\nask(g())", "f"),
    "what a table holds": ("def f(): pass\ndef g(): pass\nt = {'f': f, 'g': g}\nask(t['g']())", "g"),
    "any that a table holds": ("def f(): pass\ndef g(): pass\nt = {'f': f, 'g': g}\nask(t[k]())", "f, g"),
    "a bound method": ("class C:\n    def f(self): pass\ng = C().f\nask(g())", "f"),
    "a lambda": ("g = lambda: 1\nask(g())", "lambda"),
    "super's": (
        "class B:\n    def f(self): pass\nclass C(B):\n    def g(self):\n        ask(super().f())",
        "f",
    ),
    "what a table gives": ("def f(): pass\ndef g(): pass\nt = {A.B: f, 'g': g}\nask(t.get(k)())", "f, g"),
    "what a table gives for a key": ("def f(): pass\ndef g(): pass\nt = {'f': f, 'g': g}\nask(t.get('g')())", "g"),
    "not what a queue gives": ("def f(): pass\nt = [f]\nask(t.get('g')())", ""),
    "by the name of a class": (
        "class C:\n    def visit_Linear(self): pass\n    def visit_A(self): pass\n    def other(self): pass\n"
        "nn.Linear()\nc = C()\nask(getattr(c, 'visit_' + type(x).__name__, c.other)())",
        "other, visit_Linear",
    ),
    "by a name that nobody asks a class for": (
        "class C:\n    def visit_Linear(self): pass\nnn.Linear()\nc = C()\nask(getattr(c, 'visit_' + x)())",
        "",
    ),
    "what was registered for a class": (
        "@singledispatch\ndef f(x): pass\n@f.register(int)\ndef g(x): pass\n@f.register\ndef h(x: str): pass\n"
        "ask(f(1))",
        "f, g, h",
    ),
    "a method that was": (
        "class C:\n    @functools.singledispatchmethod\n    def f(self, x): pass\n    @f.register\n"
        "    def g(self, x: int): pass\nask(C().f(1))",
        "f, g",
    ),
    "by a call": (
        "@singledispatch\ndef f(x): pass\ndef g(x): pass\nf.register(int, g)\nf.register(str, lambda x: x)\nask(f(1))",
        "f, g, lambda",
    ),
    "not what a hook registers": (
        "def f(x): pass\n@f.register\ndef g(x): pass\n@singledispatch\ndef h(x): pass\nask(f(h))",
        "f",
    ),
}


@pytest.mark.parametrize("case", RUNS)
def test_runs(case: str) -> None:
    text, answer = RUNS[case]
    m = Module(dedent(text))
    v = Values(m)
    (call,) = asked(m)
    assert isinstance(call, ast.Call)
    names = sorted(getattr(function, "name", "lambda") for function in v.callees(call))
    assert ", ".join(names) == answer


#: Programs that seem to hold themselves: an answer comes all the same.
ROUND_ABOUT = (
    "import apex\napex = apex.amp\nask(apex)",
    "from apex import amp\nx = amp\nwhile x:\n    x = x.next\nask(x)",
    "class A(B):\n    pass\nclass B(A):\n    pass\nask(B().run())",
    "class N(N):\n    def run(self):\n        return super().run()\nclass N(N):\n    pass\nask(N().run())",
    "x = []\nx.append(x)\nask(x[0][0])",
    "def f(g):\n    return f(f)(g)\nask(f(f))",
)


@pytest.mark.parametrize("text", ROUND_ABOUT)
def test_always_ends(text: str) -> None:
    m = Module(text)
    assert len(Values(m).of(asked(m)[0])) < 20
