"""Which words mean NVIDIA's Apex.

``apex`` is also a word, a game, two languages and a package of PyPI, so each pattern says how sure it is: *sure* can
mean NVIDIA's alone, what is not counts only in a tree that has to do with it.
"""

from __future__ import annotations

import re

PARTS = (
    "amp|parallel|optimizers|normalization|fp16_utils|multi_tensor_apply|contrib|mlp|fused_dense|transformer"
    "|reparameterization|RNN|pyprof"
)
WORD = re.compile(r"(?<!\w)apex(?!\w)", re.I)
SURE = re.compile(
    rf"""nvidia/apex(?!\w) | nvidia\.github\.io/apex(?!\w) | nvidia\.com/(?:blog/)?apex-pytorch
    | nvidia(?:['\u2019]s)?[\s_-]+[\[`*]*apex(?!\w)
    | (?<![\w.@/])apex\.(?:{PARTS})(?!\w) | \bfrom\s+apex\s+import\s+(?:{PARTS})\b
    | --(?:cpp|cuda)_ext\b""",
    re.I | re.X,
)
_OURS = re.compile(
    r"github\.com[/:]nvidia/apex(?:(?:\.git)?/?(?=[@#?\s\"']|$)|/(?:archive|tarball|zipball|releases)/)", re.I
)
_SPECIFIER = r"\s*(?:\[[^\]]*\]\s*)?(?:\(?\s*(?:===?|~=|!=|<=?|>=?|=)[^;#@]*)?(?:;.*)?"
_NAME = re.compile(rf"(?:[\w.-]+::)?(nvidia[-_.])?apex{_SPECIFIER}", re.I)
_NAMED_URL = re.compile(r"(?:nvidia[-_.])?apex\s*(?:\[[^\]]*\])?\s*@\s*\S+.*", re.I)
_EGG = re.compile(r"\S+#(?:.*&)?egg=(?:nvidia[-_.])?apex(?:[&\[].*)?", re.I)
_FORK = re.compile(r"(?:git\+)?(?:https?|ssh|git)(?:://|@)\S+/apex(?:\.git)?/?(?:@[\w./-]+)?(?:#\S*)?", re.I)
_FILE = re.compile(r"(?:file:|https?:)?\S*/?apex-\d[\w.+]*-\S+\.whl|(?:file:|\.{1,2}/|/)(?:\S*/)?apex/?", re.I)
_EDITABLE = re.compile(r"(?:-e|--editable)[\s=]+")
_LONGEST = 2000  # characters of a requirement that somebody wrote
_PIP_OPTION = re.compile(r"\s--?[a-z].*", re.S)


def requirement(text: str) -> bool | None:
    """Whether a requirement is Apex's for sure (True), or by its name (False); None for another one."""
    text = re.sub(r"\\\r?\n", " ", text).strip()
    text = " ".join(re.sub(r"(?:^|\s)#.*", "", text).split())
    editable = _EDITABLE.match(text)
    text = _PIP_OPTION.sub("", text[editable.end() :] if editable else text).strip().strip("\"'")
    if len(text) > _LONGEST:
        return None
    if _OURS.search(text) and not re.search(r"\s", re.sub(r"\s*@\s*", "@", text.partition(";")[0].strip())):
        return True
    if named := _NAME.fullmatch(text):
        return bool(named[1])
    if _NAMED_URL.fullmatch(text) or _EGG.fullmatch(text) or _FORK.fullmatch(text) or _FILE.fullmatch(text):
        return False
    return False if editable and re.fullmatch(r"(?:\S*/)?apex/?", text, re.I) else None
