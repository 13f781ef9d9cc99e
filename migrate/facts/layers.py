"""Networks that a file puts together of torch's own layers or takes from a library, and the names of a file that keep
one, by its text: ``_NET = nn.Sequential(…)`` below ``global _NET``, ``_CACHE[name] = vgg16()``, ``score.net = …``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from ..knowledge.models import NETWORK_MADE, NO_PARAMETERS

_LAYER = re.compile(r"(?:torch\.)?nn\.([A-Z]\w*)")
_BARE = re.compile(
    r"Sequential|Linear|Bilinear|Conv(?:Transpose)?[123]d|Embedding|LSTM|GRU|RNN|MultiheadAttention|Transformer\w*"
)
_LIBRARY = re.compile(r"(?:torchvision\.)?models\.(?:\w+\.)*(\w+)")
_LOADED = re.compile(r"(?:torch\.)?(?:hub|jit)\.load|timm\.create_model|Auto\w*Model\w*\.from_pretrained")
# What torch.nn has beside layers.
_NO_LAYER = frozenset("Parameter ParameterList ParameterDict Module Buffer UninitializedParameter".split())
_MAKER = r"((?:\w+\.)*\w+)"
_ITEM = r"(?:\[[^\[\]\n]*\])?"
_TUPLE = re.compile(r"^(\w+(?:[ \t]*,[ \t]*\w+)+)[ \t]*=[ \t]*([^=\n][^\n]*)$", re.M)
_FIRST = re.compile(r"[ \t]*" + _MAKER)
_TOP = re.compile(rf"^(\w+){_ITEM}[ \t]*(?::[^=\n]{{1,99}})?=[ \t]*{_MAKER}", re.M)
_GLOBAL = re.compile(r"^[ \t]+global[ \t]+([\w, \t]+)", re.M)
_NAMED = re.compile(r"^(?:class|(?:async[ \t]+)?def)[ \t]+(\w+)|^(\w+)[ \t]*(?::[^=\n]{1,99})?=", re.M)
_SET = re.compile(rf"(?<![\w.])(\w+)(\.\w+)?{_ITEM}[ \t]*=[ \t]*{_MAKER}")
_FILLED = re.compile(
    rf"(?<![\w.])((?:self\.|cls\.)?\w+)(?:\[[^\[\]\n]*\][ \t]*=[ \t]*|\.(?:append|add|insert)\()(?:\d+,[ \t]*)?{_MAKER}"
    rf"|\b(cls\.\w+)[ \t]*=[ \t]*{_MAKER}"
)
# A list, tuple or dictionary of networks: `HEADS = [nn.Linear(4, 4) for _ in range(2)]`.
_ROW = rf"((?:self\.)?\w+)[ \t]*=[ \t]*[\[({{][ \t]*(?:[\w\"']+[ \t]*:[ \t]*)?{_MAKER}[ \t]*\("
_ROW_OF, _TOP_ROW = re.compile(rf"(?<![\w.]){_ROW}"), re.compile(rf"^{_ROW}", re.M)
_DEFAULT = re.compile(rf"(?<![\w.])(\w+)[ \t]*(?::[^=,()]{{1,99}})?=[ \t]*{_MAKER}[ \t]*\(")
_PROPERTY = re.compile(r"@[\w.]*property[ \t\r]*\n(?:[ \t]*@[^\n]*\n)*[ \t]*def[ \t]+(\w+)")

Pairs = tuple[tuple[str, str], ...]


def of_layers(maker: str) -> bool:
    """Whether what is called so makes a network with parameters: torch's own layer, or a library's network."""
    if (layer := _LAYER.fullmatch(maker)) is not None:
        return layer[1] not in _NO_LAYER and not layer[1].endswith("Loss") and not NO_PARAMETERS.fit(layer[1])
    if _BARE.fullmatch(maker):
        return True
    if (network := _LIBRARY.fullmatch(maker)) is not None:
        return NETWORK_MADE.fit(network[1])
    return _LOADED.fullmatch(maker) is not None


def makes(maker: str, networks: Collection[str], layers: bool = True) -> bool:
    """Whether what is called so makes a network, one of these or (``layers``) one of layers."""
    return maker in networks or maker.rpartition(".")[2] in networks or (layers and of_layers(maker))


def kept_by_file(text: str) -> Pairs:
    """What the names of a file are given, where they are made or later by a function: an item, an attribute of one of
    its functions or classes, a name that a function says is the file's."""
    found = dict.fromkeys([*_TOP.findall(text), *_TOP_ROW.findall(text), *_of_tuples(text)])
    outer = {name for names in _GLOBAL.findall(text) for name in re.findall(r"\w+", names)}
    own = {name for pair in _NAMED.findall(text) for name in pair if name}
    for name, attribute, maker in _SET.findall(text) if outer or own else ():
        if (name in outer and not attribute) or (name in own and attribute):
            found[name + attribute, maker] = None
    found |= dict.fromkeys((name, maker) for name, maker, *_ in _FILLED.findall(text) if name in own)
    return tuple(found)


def filled(parameters: str, body: str) -> Pairs:
    """What a function puts into items and attributes of a class, and which defaults it has."""
    put = ((name or attribute, maker or made) for name, maker, attribute, made in _FILLED.findall(body))
    return (*put, *_ROW_OF.findall(body), *(_DEFAULT.findall(parameters) if "=" in parameters else ()))


def _of_tuples(text: str) -> Iterator[tuple[str, str]]:
    for targets, values in _TUPLE.findall(text):
        names, given = targets.split(","), [""]
        for char in values:
            if char == "," and given[-1].count("(") == given[-1].count(")"):
                given.append("")
            else:
                given[-1] += char
        for name, value in zip(names, given, strict=False):
            if len(names) == len(given) and (maker := _FIRST.match(value)) is not None:
                yield name.strip(), maker[1]


def properties(body: str) -> frozenset[str]:
    """The properties of a class."""
    return frozenset(_PROPERTY.findall(body)) if "property" in body else frozenset()
