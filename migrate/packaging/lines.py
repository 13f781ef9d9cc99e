"""Commands, settings and words for people: mentions, and nothing that is edited."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .mention import About, Mention
from .texts import lines
from .words import PARTS, SURE, WORD

_APEX = r"(?<![\w-])apex(?![\w-])"
_ALONE = re.compile(_APEX, re.I)
_INSTALLS = re.compile(
    rf"""\bgit\s+(?:clone|submodule)\b.*/apex(?:\.git)?/?(?![\w/-]) | \bgit\s+submodule\b.*{_APEX} | \bgit\+\S*/apex\b
    | \b(?:pip[\d.]*|conda|mamba|micromamba|uv|poetry)\s+(?:-\S+\s+)*(?:pip\s+)?(?:install|add)\b[^|;`]*{_APEX}
    | (?:^|[\s;&(])(?:cd|pushd|WORKDIR)\s+\S*?{_APEX}/?["']?(?=$|[\s;&|)`])
    | ^\s*(?:ADD|COPY)\s.*{_APEX} | ^\s*(?-i:FROM)\s+\S*{_APEX} | --(?:cpp|cuda)_ext\b
    | \b(?:install|build)[-_]apex(?![a-z]) | ^\s*url\s*=\s*\S+/apex(?:\.git)?/?\s*$""",
    re.I | re.X,
)
# What only looks like it: a search through a list, something that is taken away.
_NOT_INSTALLS = re.compile(r"\bgrep\b|\buninstall\b|\bsed\b", re.I)
# Levels: --opt-level O1, AMP_OPT_LEVEL: O1, "fp16_opt_level": "O2".
_LEVEL_NAME = r"(?i:[a-z][\w.-]{0,40}(?:level|lvl|mode|fp16|amp|apex)|fp16|amp)"
_LEVEL = re.compile(
    rf"""(?<![\w-])(?:--({_LEVEL_NAME})(?:=|\s+)|({_LEVEL_NAME})["']?\s*[:=]\s*)["'\\]*O[0-3](?![\w-])"""
)
_LEVEL_END = re.compile(r"[\s:=\"'\\]O[0-3](?![\w-])")
_SCALE = re.compile(r"(?<![\w-])--([a-z][\w-]{0,40})?(loss[-_]scale)(?:=|\s+)[\"']?(?:[1-9][\d.]*|dynamic)\b")
_FLAG = re.compile(
    r"""(?<![\w-])--[\w-]{0,40}?(?<![a-z])apex(?![a-z]) | (?<![\w-])--[\w-]{1,40}(?:=|\s+)["']?(?<![\w-])apex(?![\w-])
    | \b[A-Z_]{0,40}(?<![A-Z])APEX(?![A-Z])[A-Z_]{0,40}=""",
    re.X,
)
_KEY = re.compile(
    r"""^\s*(?:-\s+)?["']?[\w.-]{0,40}?(?<![a-zA-Z])(?:apex|APEX)(?![a-zA-Z])[\w.-]{0,40}["']?\s*[:=]\s*(?:["']|true\b|false\b|null\b|[01]\b(?![\d.]))""",
    re.I,
)
_VALUE = re.compile(
    r"""(?:amp|fp16|half|bn|norm|ddp|dist|parallel|backend|engine|precision|scaler)[\w.-]{0,40}["']?\s*[:=]\s*["']?apex["']?\s*(?:,|\#|$)""",
    re.I | re.X,
)
_NEEDS = re.compile(rf"[:=]\s*[\"']?apex\.(?:{PARTS})[.\w]*[\"']?\s*(?:[,#}}]|$)|\s-m\s+apex\.\w+", re.I)
# A line is about software of this kind where one of these stands beside the word.
_CONTEXT = re.compile(
    r"""\b(?:amp(?:_\w+)?|fp16|float16|half|mixed|precision|ddp|distributed\w*|sync\w*|batch_?norm|fused\w*|cuda|gpus?|pip|conda
    |install\w*|nvidia|(?:py)?torch|O[0-3]|larc|lamb|layer_?norm|opt_level|mypy|docker\w*|librar(?:y|ies)|packages?)\b""",
    re.I | re.X,
)
_OTHER = re.compile(
    r"""\bapex\W+(?:of|legends|charts?|class(?:es)?|triggers?|domains?|predators?|beats?|court)\b
    |\b(?:oracle|salesforce|lightning|sfdx)\b|\b(?:at|to|from|toward)\s+(?:the|its)\s+apex\b|\.apex\b|\bapex\.(?:com|org|io)\b""",
    re.I | re.X,
)
_QUOTED = re.compile(
    r"[`\[]apex[`\]]|\bapex\s*[=>]=\s*\d|\[mypy-apex|\bimport\s+[\w, ]{0,200}\bapex\b|[\"']apex\.\*[\"']", re.I
)
_OF_AMP = re.compile(r"\bamp\.(?:initialize|scale_loss|master_params|load_state_dict)\(")


_LONGEST = 4000  # characters of a line that somebody wrote
# What is looked for first, as that is quick: without one of these there is no mention.
_HINTS = (b"apex", b"_ext", b"loss-scale ", b"loss-scale=", b"loss_scale ", b"loss_scale=", b"amp.initialize(")
_LEVELS = (b"O0", b"O1", b"O2", b"O3")
_LEVEL_HINT = re.compile(rb"(?:level|lvl|mode|fp16|amp|apex)[\"']?(?:\s*[:=]\s*|\s+)[\"'\\]*o[0-3]")


def hinted(data: bytes) -> bool:
    """Whether a file may have mentions at all."""
    lower = data.lower()
    if any(hint in lower for hint in _HINTS):
        return True
    return any(level in data for level in _LEVELS) and _LEVEL_HINT.search(lower) is not None


def look(text: str) -> list[Mention]:
    """Mentions in commands, settings and documentation."""
    return list(spoken(text))


def look_at_data(text: str) -> list[Mention]:
    """Mentions in a text that may be anything: what is unmistakable."""
    return [one for one in spoken(text, plain=True) if one.sure]


def spoken(text: str, plain: bool = False) -> Iterator[Mention]:
    """A mention for each line that has one; ``plain`` text has no settings of its own."""
    lowered = text.lower()
    about_ours = ("apex" in lowered or "_ext" in lowered) and SURE.search(text) is not None
    for number, line in enumerate(lines(text), 1):
        lower = line.lower()
        if "apex" in lower or "_ext" in lower:
            mention = _by_name(line, number, about_ours, plain)
        else:
            mention = _by_option(line, number, lower)
        if mention is not None:
            yield mention


def _by_name(line: str, number: int, about_ours: bool, plain: bool) -> Mention | None:
    """The mention of a line that has the name, in whatever sense."""
    sure = SURE.search(line) is not None
    if len(line) > _LONGEST:
        return Mention(About.SPEAKS, number, number, True) if sure else None
    if _INSTALLS.search(line) and not _NOT_INSTALLS.search(line):
        return Mention(About.INSTALLS, number, number, sure)
    if _NEEDS.search(line):
        return Mention(About.OPTION, number, number, sure, needs=not line.lstrip().startswith("#"))
    if not sure and (option := _by_option(line, number, line.lower())):
        return option
    if _FLAG.search(line) or (not plain and (_KEY.search(line) or _VALUE.search(line))):
        return Mention(About.OPTION, number, number, sure)
    named = WORD.search(line) and (
        about_ours or (_ALONE.search(line) and _CONTEXT.search(line)) or _QUOTED.search(line)
    )
    if sure or (named and not _OTHER.search(line)):
        return Mention(About.SPEAKS, number, number, sure)
    return None


def _by_option(line: str, number: int, lower: str) -> Mention | None:
    """The mention of a line that sets a level or a scale, or shows code of amp."""
    if len(line) > _LONGEST:
        return None
    named = _LEVEL.search(line) if _LEVEL_END.search(line) else None
    if named is None and ("loss-scale" in lower or "loss_scale" in lower):
        named = _SCALE.search(line)
    if named is not None:
        return Mention(About.OPTION, number, number, False, option=plain_name("".join(filter(None, named.groups()))))
    return Mention(About.SPEAKS, number, number, False) if "amp." in lower and _OF_AMP.search(line) else None


def plain_name(option: str) -> str:
    """An option as it is called in code: ``--amp-opt-level`` and ``AMP_OPT_LEVEL`` are ``amp_opt_level``."""
    return option.rpartition(".")[2].strip("-").replace("-", "_").lower()
