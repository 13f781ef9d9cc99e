"""Which files make one program: those that use amp and reach each other through imports, with what lies between, those
that run them, and what they import that autocast would refuse.

A component is analysed, decided and written as one. What only one file has to do with is analysed by itself.
"""

from __future__ import annotations

import os
import re
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from .bases import keepers_of_options, telling_bases
from .facts.backward import HOOKED, multiplies_backward, multiplies_in_hooks
from .facts.elsewhere import (
    Elsewhere,
    kept_networks,
    makers_of,
    may_apply_networks,
    may_hold_networks,
    may_run_bit_by_bit,
    may_run_networks,
    may_run_of_given,
    networks_spread,
    spreads,
)
from .facts.handed_runs import with_handed_on
from .facts.handed_types import hands_over
from .facts.masks import MAKES_FAR, MAY_ADD
from .imports.tree import Imports
from .imports.ways import (
    NAME,
    files_above,
    files_below,
    led_to,
    only_hands_on,
    shortest_ways,
    spread,
    taken_from,
)
from .installed import importable
from .knowledge.gradients import steps
from .knowledge.models import NETWORK_MADE, OPTIONS
from .knowledge.operations import O1_FLOAT, SPREADS
from .lookers import (
    CLIPS_OR_LOOKS,
    MOST_OF_A_NAME,
    OPTIMIZER,
    TRAINS_OR_LOOKS,
    asking,
    kept_by,
    looking_methods,
    only_steps,
)
from .model import UNSETTLED, Outside, Standing
from .reading import read
from .running_handed import running_handed
from .sources import Selection, Source

MOST_FILES, MOST_BYTES = 250, 1_500_000  # of one component
MOST_WHOLE, MOST_WHOLE_BYTES = 40, 400_000  # of one that is taken with all that its imports lead to
MOST_WIDENED = 40  # files of one that is tried with its neighbours
FEW = 4  # importers of a file, all of which are looked into
_TRAINS = re.compile(rb"\.backward\(|\.step\(|\bclip_grad|\.zero_grad\(|\.eval\(|\bno_grad\b")
# find_spec("apex"), is_installed("apex"), "apex" in sys.modules
_ASKS = re.compile(rb"\(\s*[\"']apex(?:\.amp)?[\"'],?\s*\)|[\"']apex(?:\.amp)?[\"']\s+(?:not\s+)?in\b")
_REFUSED = re.compile(rb"\bbinary_cross_entropy\b|\bBCELoss\b")
# Who asks torch for a loss by a name, and that name, in whatever file it stands.
_BY_NAME = re.compile(rb"\bgetattr\(\s*(?:torch\.)?(?:nn|F|functional|nn\.functional)\s*,")
_NAMED = re.compile(rb"[\"'](?:binary_cross_entropy|BCELoss)[\"']")
_RUN = b"|".join(one.encode() for one in sorted({"self", *OPTIONS}))  # the options of a run are no object of interest
_LISTS = re.compile(
    rb"\b(?:dir|vars|getmembers)\((?!(?:" + _RUN + rb")\b)[a-z]\w*[,)]"
    rb"|(?<![\w.])(?!(?:" + _RUN + rb")\b)[a-z]\w*\.__dict__\b(?!\.update\b|\.setdefault\b|[ \t]*=[^=])"
)
_STASH = re.compile(rb"\b_amp_stash\b")  # what Apex keeps on an optimizer
_TRAINS_ITSELF = (re.compile(rb"\.backward\("), re.compile(rb"\.step\("))
_LEVELS = re.compile(rb"[=!]=[ \t]*[\"']O[1-3][\"']")
_FUNCTIONS = re.compile(rb"\bclass[ \t]+\w+\([\w.]*\bFunction\)")
_GRADLESS = re.compile(rb"\bwith[ \t]+torch\.(?:no_grad|inference_mode|set_grad_enabled)\b|@[ \t]*torch\.no_grad\b")
_INITIALIZED = re.compile(rb"^[ \t]*([\w(][^\n=#]{0,300})=[ \t]{0,40}[\w.]{0,80}\binitialize\(", re.M)
_PUT_BY = re.compile(rb"\bself\.(\w+[ \t]*=[ \t]*\w+)[ \t\r]*$", re.M)
_RUN_OF_OBJECT = re.compile(rb"(?<![\w.])(?!self\.)\w+(?:\.\w+)*\.(\w+)\(")  # learner.model(x)
_WORD = re.compile(rb"\b[A-Za-z_]\w*")
_OF_OTHERS = re.compile(rb"(?<!\bself)\.(\w+)\b(?![ \t]*=[^=])")  # but for attributes of an object's own
_GIVES_TABLE = re.compile(rb"\breturn[ \t]+(?:\w+\.)*[0-9_]*[A-Z][A-Z0-9_]*\b")
_SCALER = re.compile(rb"\.(\w*scaler\w*)")
_SWITCH = re.compile(rb"\b(\w{0,80}?(?:apex|APEX)\w{0,80})\s{0,40}(?::[^=\n]{1,200})?=(?!=)")
_FUSED_ADAM = re.compile(rb"\bFusedAdam\b")
_COUNTED = re.compile(  # group["step"], optimizer.param_groups[0].get("step"), "step" in group
    rb"group\w{0,80}(?:\[[\w-]*\])?[ \t]*(?:\[|\.(?:get|setdefault|pop)\()[ \t]*[\"'](?:step|bias_correction)[\"']"
    rb"|[\"'](?:step|bias_correction)[\"'][ \t]+(?:not[ \t]+)?in[ \t]+[\w.]{0,80}group"
)
# Classes that are written out, and what they have: attributes, also of options; keys of groups of parameters.
_WRITTEN = re.compile(rb"\b(?:FusedAdam|FusedLAMB|FusedNovoGrad|FP16_Optimizer)\b")
_HAS = (
    b"optimizer|verbose|overflow|loss_scale|cur_scale|cur_iter|last_overflow_iter|scale_factor|scale_window|pairs|factor"
    b"|window|most|least|clean|dynamic_loss_scale|backward|update_master_grads|clip_master_grads|param_groups|state"
    b"|zero_grad|state_dict|load_state_dict|step|adam_w_mode|use_nvlamb|eps_inside_sqrt|reg_inside_moment"
)
_ASKED = re.compile(rb"(?:(?<!\bargs)(?<!\bopt)(?<!\bconfig)\.|[\"'])(" + _HAS + rb")\b")
_SET = re.compile(rb"\.(" + _HAS + rb")[ \t]*=[^=]")
_HANDS_OPTIMIZER = re.compile(  # but for the header of a function, to whom it may be handed
    rb"^(?![ \t]*(?:async[ \t]+)?def\b)[^#\n]*?[(,=][ \t]*(?:self\.)?(\w*[oO]pt(?:im\w*)?)[ \t]*[,)]", re.M
)
_KEYS = re.compile(
    rb"(?:[\"']|\bdict\([^()]{0,500}\b)"
    rb"(bias_correction|max_grad_norm|grad_averaging|norm_type|init_zero)(?:[\"']|[ \t]*=)"
)
_THREADS = re.compile(rb"\bThread(?:Pool|PoolExecutor)?\(")
_HANDED = re.compile(rb"[(,=]\s*(?:self\.)?(?:model|net|network|encoder|decoder)\s*[,)]")
_LEAVES = re.compile(rb"\.cpu\(\)|\.numpy\(\)")
_HOOKS = re.compile(rb"\bregister_forward_hook\(")
_AS_FLOAT = re.compile(rb"\.(?:" + b"|".join(one.encode() for one in sorted(O1_FLOAT)) + rb")\(")
# What O1 left in float32 if it was so, and what makes it so.
_PRODUCTS = re.compile(rb"\b(?:einsum|chain_matmul|multi_dot|cov|matrix_power|vecdot|tensordot|inner|linalg\.matmul)\(")
_WIDENS = re.compile(rb"\.(?:float|double)\(\)|\b(?:softplus|exp)\(")
_SPREADS = re.compile(rb"\.(?:" + b"|".join(one.encode() for one in sorted(SPREADS)) + rb")\(")
_IN_PLACE = re.compile(rb"\.(?:add(?:mm|mv|r|bmm)|baddbmm)_\(")
_BEGINS, _SCALES = re.compile(rb"\binitialize\("), re.compile(rb"\bscale_loss\(")
# Where Apex's amp may come from, one of which a unit has in its program.
_FROM_APEX = re.compile(
    rb"\bapex\.amp\b|\bfrom[ \t]+apex[ \t]+import\b|\bimport[ \t]+(?:\w[\w., \t]{0,400},[ \t]*)?apex\b"
    rb"|\b(?:import_module|__import__)\(\s*[\"']apex\b"
)
_YIELDS = re.compile(rb"\byield\b|\basync[ \t]+def\b")
# What a `with` of a user of amp runs behind its block.
_MANAGES = re.compile(rb"\bcontextmanager\b|\bdef[ \t]+__a?exit__\b")
_MODELS = rb"(?:model|net|network|encoder|decoder|critic|backbone|discriminator)\("
_RUNS_MODEL = re.compile(rb"\b" + _MODELS + rb"|\bself\.\w*" + _MODELS)


@dataclass(frozen=True, eq=False)
class Component:
    """The files of one program, each behind those that it imports; ``links`` as `FileText` has them."""

    sources: tuple[Source, ...]
    links: tuple[Mapping[str, int], ...]
    standing: Standing = UNSETTLED

    @property
    def size(self) -> int:
        return sum(source.size for source in self.sources)

    def without(self, left_out: Collection[int]) -> Component:
        """The same program without some of its files, by their numbers."""
        kept = [number for number in range(len(self.sources)) if number not in left_out]
        new = {old: number for number, old in enumerate(kept)}
        links = ({dotted: new[at] for dotted, at in self.links[old].items() if at in new} for old in kept)
        return replace(self, sources=tuple(self.sources[old] for old in kept), links=tuple(links))


def single(source: Source, selection: Selection, imports: Imports) -> Component:
    """A program of one file."""
    at = source.location
    counted, spoken, own = _counted(at, imports), _spoken(at, imports), _own(at, imports)
    about = replace(source.outside, counted=counted, spoken=spoken, own=own)
    source = replace(source, outside=about)
    if not (source.uses_amp or source.spells_amp):
        source = replace(source, outside=replace(source.outside, exported=imports.taken(at, (at,))))
        return Component((source,), ({},))
    later = next((selection.python[one] for one in sorted(imports.imported(at)) if _runs_later(one, imports)), None)
    near = replace(
        source.outside,
        exported=imports.taken(at, (at,)),
        unread=imports.unread(at, (at,)),
        importable=importable((at,), imports.above((at,)))[at],
        packaged=imports.taken_by_package(at, (at,)),
        scalers=_scalers((at,), imports),
        switched=_switched((at,), imports),
        elsewhere=_elsewhere(at, imports),
        later=later,
    )
    source = replace(source, outside=near)
    if source.spells_amp:
        spelled = _spelled(selection, imports, (at,))
        source = replace(source, outside=replace(source.outside, spelled=spelled))
    return Component((source,), ({},))


def _spelled(selection: Selection, imports: Imports, files: Collection[str]) -> bool:
    """Whether a file that these reach, or that reaches one of them, has to do with an attribute called ``amp``."""
    others = selection.spelling - set(files)
    return bool(others) and (
        any(imports.reached(one, others) for one in files) or any(imports.reached(one, files) for one in others)
    )


def _scalers(files: Collection[str], imports: Imports) -> frozenset[str]:
    """The attributes with `scaler` in their names in the files that these import, or that import these: an object of
    one may be one of the other."""
    near = {*files_below(list(files), imports), *files_above(list(files), imports)} - set(files)
    found: set[str] = set()
    for one in near:
        found.update(imports.words(_SCALER, one))
    return frozenset(found)


def _switched(files: Collection[str], imports: Imports) -> frozenset[str]:
    """What says "apex" and is given a value in the files that these import, or that import these."""
    near = {*files_below(list(files), imports), *files_above(list(files), imports)} - set(files)
    return frozenset().union(*(imports.words(_SWITCH, one) for one in near))


def _counted(at: str, imports: Imports) -> bool:
    """Whether a file makes Apex's Adam, and one that may run in its process asks groups of parameters for what only
    that kept there. One with an optimizer of its own asks its own groups."""
    if not imports.words(_FUSED_ADAM, at):
        return False
    others = [one for one in files_below(files_above([at], imports), imports) if one != at]
    return any(imports.words(_COUNTED, one) and not imports.words(OPTIMIZER, one) for one in others)


def _spoken(at: str, imports: Imports) -> frozenset[str]:
    """What of a class that is written out in a file the others of its process ask for; ``*`` where they hand on what
    may be an optimizer."""
    if not imports.words(_WRITTEN, at):
        return frozenset()
    found: set[str] = set()
    for one in [one for one in files_below(files_above([at], imports), imports) if one != at]:
        found |= imports.words(_ASKED, one)
        found |= {f"{word}=" for word in imports.words(_SET, one)}
        if imports.words(_HANDS_OPTIMIZER, one):
            found.add("*")
        if not imports.words(OPTIMIZER, one):  # which has keys of its own
            found |= {f'"{word}"' for word in imports.words(_KEYS, one)}
    return frozenset(found)


def _own(at: str, imports: Imports) -> frozenset[str]:
    """The imports of a file that lead to files of the tree."""
    return frozenset(dotted for dotted, meant in imports.meant(at).items() if meant)


def _elsewhere(at: str, imports: Imports) -> Elsewhere:
    """What the files that one imports names from make of networks."""
    near = {*imports.imported(at), *imports.through(at)}
    behind = (_made_behind, _kept_behind, _makers_behind)
    near |= {further for one in near for asked in behind for further in asked(one, imports)}
    found = imports.elsewhere(tuple(sorted(near)))
    return replace(found, gradients=found.gradients | looking_methods(at, imports))


_ASKS_ALL = frozenset({"globals", "eval"})


def _kept_behind(location: str, imports: Imports) -> set[str]:
    """The files that one imports with a network in a name of theirs that it calls: ``from nets import EXTRACTOR``."""
    outline = imports.outline(location)
    taken = dict(outline.imported)
    called = {name.rpartition(".") for one in outline.every for name in one.called}
    asked = {last if first else taken[last] for first, _, last in called if (first or last) in taken}
    asked = {name for name in asked if name.isupper() or NETWORK_MADE.fit(name)}
    if not asked:
        return set()
    return {one for one in imports.imported(location) if not asked.isdisjoint(dict(imports.outline(one).kept))}


def _makers_behind(location: str, imports: Imports) -> set[str]:
    """The files that one imports with functions which make networks, going by their names, and that its own functions
    call: ``model = build_model(cfg)``; and those with the classes of these."""
    called = {name.rpartition(".")[2] for one in imports.outline(location).functions for name in one.called}
    made = {name for name in called if NETWORK_MADE.fit(name) and not name[:1].isupper()}
    found = set[str]()
    for one in taken_from([location], imports) if made else ():
        if any(function.name in made for function in imports.outline(one).functions):
            found |= {one, *_made_behind(one, imports)}
    return found - {location}


def _made_behind(location: str, imports: Imports, methods: bool = False) -> set[str]:
    """The files that one imports with classes of which its functions make objects, and those with their bases:
    ``return Evaluator(model)``, ``return EVALUATORS[name](model)``; and with the bases of its own classes. With
    ``methods`` those as well of which its methods make some: ``self.state = State(model, optimizer)``."""
    outline = imports.outline(location)
    called = {name for one in (outline.every if methods else outline.functions) for name in one.called}
    made = {name for one in called if (name := one.rpartition(".")[2])[:1].isupper() or one in _ASKS_ALL}
    own = {cls.name for cls in outline.classes}
    bases = {base for cls in outline.classes for base in cls.bases if base == cls.name or base not in own}
    made |= {base for base in bases if base in own or _taken(base, location, imports)}
    if not made:
        return set()
    found = set[str]()
    todo = [(location, made)]
    while todo:
        at, wanted = todo.pop()
        # any of the classes may stand in a table, or be asked for by a name
        table = any(name.isupper() or name in _ASKS_ALL for name in wanted)
        for one in sorted({*imports.imported(at), *imports.through(at)} - found):
            classes = imports.outline(one).classes
            meant = [cls for cls in classes if table or cls.name in wanted]
            if meant:
                found.add(one)
                todo.append((one, {base for cls in meant for base in cls.bases if not base.isupper()}))
    return found - {location}


def _taken(name: str, location: str, imports: Imports) -> bool:
    """Whether a file imports a name from another of the tree."""
    meant = imports.meant(location)
    froms = (dotted.rpartition(".") for dotted in meant)
    return any(last == name and (meant.get(module) or meant[f"{module}.{last}"]) for module, _, last in froms if module)


def components(selection: Selection, imports: Imports) -> list[Component]:
    """The programs of a tree that consist of several files, sorted by their first names."""
    amp = [source.location for source in selection.amp if _has_neighbours(source.location, imports)]
    joints = _joints(amp, imports)
    handing = _handing_over(amp, imports) | _adding_far(amp, imports)
    told = _told(amp, imports) | handing
    bases = {*keepers_of_options(amp, imports), *telling_bases(amp, imports)}
    members = {*_between(amp, imports), *_users(amp, imports), *_evaluating(amp, imports), *told, *joints, *bases}
    ends = {one for one in told if _refused(one, imports) or _multiplies_backward(one, imports)}
    ends |= handing | _refused_by_name(amp, imports)
    members |= {one for at in {*amp, *members} if at not in ends for one in shortest_ways(at, ends, imports)}
    members |= _packages(sorted(told | bases), members, imports)
    members |= _far(amp, told | bases, members, imports)
    members |= _training(members, imports)
    members |= _hiding(members, imports)
    members |= _whole(amp, imports)
    if len(members) > MOST_FILES + len(amp):
        members = set(amp).union(*(shortest_ways(one, amp, imports) for one in amp))
    found = [_component(group, selection, imports) for group in _joined(amp, members, joints, imports)]
    return sorted((one for one in found if one is not None), key=lambda one: min(s.shown for s in one.sources))


def _whole(amp: Sequence[str], imports: Imports) -> set[str]:
    """All files that users of amp lead to, either way, where these are few: of nothing in there has to be guessed from
    outside whether it matters."""

    def near(at: str) -> Iterator[str]:
        yield from (*imports.imported(at), *imports.through(at), *imports.importers(at))

    found = set[str]()
    for one in amp:
        if one not in found:
            every = spread((one,), near, most=MOST_WHOLE + 1)
            found.update(every if len(every) <= MOST_WHOLE and _size(every) <= MOST_WHOLE_BYTES else ())
    return found


def _size(files: Iterable[str]) -> int:
    with suppress(OSError):
        return sum(map(os.path.getsize, files))
    return MOST_BYTES


def _has_neighbours(location: str, imports: Imports) -> bool:
    """Whether a file imports another of the tree, or one imports it: else it is a program by itself."""
    return bool(imports.imported(location) or imports.importers(location))


def widened(program: Component, selection: Selection, imports: Imports) -> Component | None:
    """A program with the files that those of it that use amp import, and that import these; where that is none more,
    with what the latter import; and with the files of classes of which all these make objects. None where that is none
    more, either, or too many, or where nothing could be a unit."""
    own = [source.location for source in program.sources]
    amp = [source.location for source in selection.amp if source.location in own]
    below = {one for at in amp for one in (*imports.imported(at), *imports.through(at))}
    through_packages = {one for at in amp for one in _importers(at, imports)}
    direct = {one for at in amp for one in imports.importers(at)}
    members = next(
        (all_ for more in (through_packages, direct) if len(all_ := {*own, *below, *more}) <= MOST_WIDENED),
        {*own, *below},
    )
    if members == set(own):  # what else is made where the program is put together: its callbacks, its losses
        members |= {one for at in amp for user in imports.importers(at) for one in imports.imported(user)}
    if members == set(own):  # or further up: who makes objects of a class that a file between derives
        members |= {one for user in files_above(amp, imports) for one in (user, *imports.imported(user))}
    held = {one for at in members for one in _made_behind(at, imports, methods=True)}
    if len(members | held) <= MOST_WIDENED:  # objects by way of which one hands another what it trains
        members |= held
    if members == set(own) or len(members) > MOST_WIDENED:
        return None
    if not any(imports.words(_FROM_APEX, one) for one in members):
        return None
    members |= _training(members, imports)
    return _component(_ordered(members, imports), selection, imports)


def _importers(location: str, imports: Imports) -> set[str]:
    """Who imports a file, also by way of packages that hand on what is in it."""
    found, todo = set[str](), [location]
    while todo:
        anew = {*imports.importers(todo.pop())} - found
        found |= anew
        todo += [one for one in sorted(anew) if os.path.basename(one) == "__init__.py"]
    return found


def scattered(left: Iterable[Source], selection: Selection, imports: Imports) -> list[Component]:
    """Of files that use amp and could not be migrated those below one folder, where some initialize, others scale
    losses, and none does both: between them stands a library's runner, and names in a configuration."""
    below: dict[str, list[str]] = {}
    for source in left:
        if not all(imports.words(word, source.location) for word in (_BEGINS, _SCALES)):
            below.setdefault(import_root(source.location), []).append(source.location)
    found = []
    for files in below.values():
        begin, scale = (any(imports.words(word, one) for one in files) for word in (_BEGINS, _SCALES))
        program = _component(_ordered(files, imports), selection, imports) if begin and scale else None
        if program is not None:
            found.append(_scattered(program))
    return sorted(found, key=lambda one: min(source.shown for source in one.sources))


def run_by_others(program: Component, imports: Imports) -> Component | None:
    """A program that its imports join, of which some files initialize, others scale losses, and none does both."""
    begin, scale = (
        {one.location for one in program.sources if imports.words(word, one.location)} for word in (_BEGINS, _SCALES)
    )
    return _scattered(program) if begin and scale and not begin & scale else None


def _scattered(program: Component) -> Component:
    return replace(program, standing=Standing(scattered=True))


def import_root(location: str) -> str:
    """The folder that absolute imports begin from: the one above the packages that a file lies in."""
    folder = os.path.dirname(location)
    while os.path.exists(os.path.join(folder, "__init__.py")) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return folder


def _ordered(members: Collection[str], imports: Imports) -> list[str]:
    """Files, each behind those of them that it imports, but for circles."""

    def inside(one: str) -> Iterator[str]:
        return iter(sorted(other for other in imports.imported(one) if other in members))

    found: list[str] = []
    seen: set[str] = set()
    for first in sorted(members):
        open_ = [] if first in seen else [(first, inside(first))]
        seen.add(first)
        while open_:
            one, rest = open_[-1]
            following = next((other for other in rest if other not in seen), None)
            if following is None:
                found.append(one)
                open_.pop()
            else:
                seen.add(following)
                open_.append((following, inside(following)))
    return found


def _between(amp: Sequence[str], imports: Imports) -> set[str]:
    """Files that use amp, and those on a way from one to another."""
    above: dict[str, list[str]] = {}
    for at in files_below(amp, imports):
        for following in imports.imported(at):
            above.setdefault(following, []).append(at)
    members, todo = set(amp), deque(amp)
    while todo:
        for before in above.get(todo.popleft(), ()):
            if before not in members:
                members.add(before)
                todo.append(before)
    return members


def _joints(amp: Sequence[str], imports: Imports) -> dict[str, frozenset[str]]:
    """Files without amp that import several files with it, and those on the way there: all of them run in one process.

    Each with the users of amp that it reaches."""
    reached: dict[str, set[str]] = {}
    for one in amp if len(amp) > 1 else ():
        for above in files_above((one,), imports)[1:]:
            reached.setdefault(above, set()).add(one)
    several = {one: users for one, users in reached.items() if len(users) > 1 and one not in amp}
    nearest = _nearest(several, imports)
    on_the_way = [one for one in files_below(sorted(nearest), imports) if one in reached and one not in amp]
    return {one: frozenset(reached[one]) for one in (*nearest, *on_the_way)}


def _nearest(several: Mapping[str, set[str]], imports: Imports) -> list[str]:
    """Of files that reach the same users of amp one that the others import, directly or through others of them; of a
    circle, one."""

    def alike(one: str, others: Iterable[str]) -> list[str]:
        return [other for other in others if several.get(other) == several[one]]

    found: list[str] = []
    covered: set[str] = set()
    for one in _ordered(several, imports):
        if one not in covered:
            found.append(one)
            covered.update(spread((one,), lambda at: alike(at, imports.importers(at))))
    return found


def _users(amp: Sequence[str], imports: Imports) -> set[str]:
    """Files that import a user of amp and may train or evaluate with what it holds, or have a function of it initialize
    their network: whatever they hand that to was under casts."""
    found: set[str] = set()
    for one in amp:
        importers = imports.takers(one)
        if len(importers) <= FEW:
            found.update(importers)
            continue
        begins = _that_begin(one, imports)
        found.update(
            x
            for x in importers
            if imports.words(_TRAINS, x) or (begins and not begins.isdisjoint(imports.words(NAME, x)))
        )
    return found


def _evaluating(amp: Sequence[str], imports: Imports) -> set[str]:
    """Files that run a network which an object of a user of amp keeps, wherever they have that object from, with those
    on the way: ``learner = get(name)``, and then ``learner.model(x)``."""
    found = set[str]()
    for one in amp:
        kept = _kept_by_object(one, imports)
        for user in files_above([one], imports)[1:] if kept else ():
            if user not in amp and kept & imports.words(_RUN_OF_OBJECT, user) and imports.words(_TRAINS, user):
                found |= {user, *shortest_ways(user, (one,), imports)}
    return found


def _kept_by_object(location: str, imports: Imports) -> frozenset[str]:
    """The attributes by which objects of a file keep the networks that Apex's ``initialize`` gave back."""
    given = imports.words(_INITIALIZED, location)
    names = {name.strip() for left in given for name in left.strip("() \t").split(",")}
    kept = {name.removeprefix("self.") for name in names if name.startswith("self.")}
    for pair in imports.words(_PUT_BY, location) if names else ():
        attribute, _, value = pair.partition("=")
        if value.strip() in names:
            kept.add(attribute.strip())
    return frozenset(kept)


def _that_begin(location: str, imports: Imports) -> set[str]:
    """The functions of a file that call something by the name of Apex's ``initialize``, and the classes with such."""
    file = imports.outline(location)
    parts = [(one.name, one) for one in file.functions]
    parts += [(cls.name, method) for cls in file.classes for method in cls.methods.values()]
    return {name for name, one in parts if any(called.rpartition(".")[2] == "initialize" for called in one.called)}


def _told(amp: Sequence[str], imports: Imports) -> set[str]:
    """Files that run in one process with users of amp, and of which more has to be known than what they are called.

    These are imported by a user of amp: what CUDA's autocast refuses to run, what asks for Apex's level, what hands on
    half results, and a model that runs in another thread, in a backward, or when the next one of a generator is asked
    for, which a region around the call is not in force for, or without gradients first and then with them; and what
    steps or clips as a block ends. And what trains beside it, as Apex's casts held there too, or has to do with
    gradients, which may be scaled now."""
    beside = dict.fromkeys((*amp, *(one for at in amp for one in imports.takers(at))))
    own = files_below(amp, imports)  # what a user of amp calls itself is known by its name, as anywhere
    below = set(files_below(list(beside), imports)).difference(own)
    trains = {one for one in below if imports.words(TRAINS_OR_LOOKS, one) and not only_steps(one, beside, imports)}
    refused = {one for one in own if _refused(one, imports) or _runs_later(one, imports)}
    refused |= _refused_by_name(amp, imports)
    refused |= {one for one in own if imports.words(_MANAGES, one) and imports.words(_TRAINS, one)}
    refused |= {one for one in taken_from(beside, imports).difference(amp) if _hands_on_half(one, imports)}
    refused |= {one for one in own if imports.words(_GRADLESS, one) and imports.runs_both_ways(one)}
    taken = taken_from(amp, imports)
    refused |= {one for one in taken if imports.words(_SPREADS, one) and spreads(imports.outline(one))}
    backwards = {one for one in files_below(list(beside), imports) if _multiplies_backward(one, imports)}
    near = _near(amp, beside, imports) | _called_by_another_name(beside, imports).difference(amp)
    return trains | refused | backwards | near | asking(beside, imports).difference(amp)


def _packages(told: Iterable[str], members: Collection[str], imports: Imports) -> set[str]:
    """The files by way of which members import what no member imports itself, and which only hand it on: ``from hooks
    import Validate`` of a package."""
    found = set[str]()
    for one in told:
        before: dict[str, str] = {}
        todo = [] if any(user in members for user in imports.importers(one)) else [one]
        while todo:
            at = todo.pop(0)
            if before and any(user in members for user in imports.importers(at)):
                while at != one:
                    found.add(at)
                    at = before[at]
                break
            for user in imports.importers(at):
                if user not in before and user != one and only_hands_on(user, imports):
                    before[user] = at
                    todo.append(user)
    return found


def _hiding(members: Collection[str], imports: Imports) -> set[str]:
    """The packages of which members take what is called as a file of theirs that is a member, too: ``from attacks
    import pgd``, where the package has ``from .pgd import pgd``."""
    found = set[str]()
    for one in members:
        meant = imports.meant(one)
        for dotted, files in meant.items():
            package, dot, name = dotted.rpartition(".")
            inits = meant.get(package if package.strip(".") else f"{package}{dot}", ())
            if name and not set(files).isdisjoint(members):
                found.update(init for init in inits if init not in files and name in imports.names_of(init))
    return found - {*members}


def _refused(location: str, imports: Imports) -> bool:
    """Whether a file uses what CUDA's autocast refuses to run, or puts into tensors what has another type under it, or
    computes variances, which are float32 only where that is written, or products of what may be float32; or asks for
    Apex's level, whether Apex is there, or for what it keeps on an optimizer."""
    if any(imports.words(pattern, location) for pattern in (_REFUSED, _LEVELS, _ASKS, _STASH)):
        return True
    if imports.words(_PRODUCTS, location) and imports.words(_WIDENS, location):
        return True
    if imports.words(_SPREADS, location) and networks_spread(imports.outline(location)):
        return True
    return imports.stores_other_types(location)


def makers(files: Collection[str], networks: Collection[str], imports: Imports) -> frozenset[str]:
    """The functions of files that give back an object of one of these classes, see `makers_of`: only those files are
    looked into that speak of one, or give back what may be a table."""
    found = frozenset[str]()
    tables = {one for one in files if imports.words(_GIVES_TABLE, one)}
    while True:
        wanted = {*networks, *found}
        speaking = [one for one in files if one in tables or wanted & imports.words(_WORD, one)]
        more = makers_of(map(imports.outline, speaking), networks)
        if more <= found:
            return found
        found = more


def _handing_over(amp: Sequence[str], imports: Imports) -> set[str]:
    """Files by way of which results of another type under autocast come into tensors, where torch asks for one: those
    that put there what they are handed, those that hand it over, and those that it is of. Names that many functions
    have say nothing."""
    below = files_below(amp, imports)
    puts = {one: imports.puts_handed(one) for one in below}
    if not any(puts.values()):
        return set()
    defined = Counter(name for one in below for name in imports.defined(one))
    putting = frozenset(name for names in puts.values() for name in names if defined[name] <= MOST_OF_A_NAME)
    using = [one for one in below if putting & imports.words(NAME, one)] if putting else []
    if not using:
        return set()
    gives = {one: imports.gives_other_types(one) for one in below}
    giving = {name: said for one in gives.values() for name, said in one.functions.items()}
    giving = {name: said for name, said in giving.items() if defined[name] <= MOST_OF_A_NAME}
    networks = {name: said for one in gives.values() for name, said in one.networks.items()}
    made = makers(below, networks, imports) if networks else frozenset[str]()
    networks |= dict.fromkeys(made, "forward")
    found = set[str]()
    for one in using:
        with suppress(OSError):
            if handed := hands_over(read(one).decode(errors="replace"), giving, networks, putting):
                own = {*giving, *networks} & imports.words(NAME, one)
                own |= set(networks) if made & own else set()
                found |= {one, *(x for x in below if puts[x] & handed or gives[x].names & own)}
                found |= {x for x in below if not (made & own).isdisjoint(imports.defined(x))}
    return found.difference(amp)


def _adding_far(amp: Sequence[str], imports: Imports) -> set[str]:
    """Files that add something in place to a product, and those that make masks of numbers which float16 has not: what
    the former import, or a user of amp does."""
    below = files_below(amp, imports)
    makes = {one for one in below if imports.words(MAKES_FAR, one)}
    adding = [one for one in below if imports.words(MAY_ADD, one) and imports.adds_to_products(one)] if makes else []
    found = set[str]()
    for one in adding:
        near = makes & {one, *taken_from((one, *amp), imports)}
        found |= {one, *near} if near else set()
    return found.difference(amp)


def _refused_by_name(amp: Sequence[str], imports: Imports) -> set[str]:
    """Files that ask torch for a loss by its name, where users of amp, or what these import, spell one that CUDA's
    autocast refuses."""
    below = files_below(amp, imports)
    asking = {one for one in below if imports.words(_BY_NAME, one)}
    return asking if asking and any(imports.words(_NAMED, one) for one in below) else set()


def _hands_on_half(location: str, imports: Imports) -> bool:
    """Whether a file runs a network that it is handed and takes results from the GPU, where Apex made them float32; or
    multiplies in place, where Apex cast to the type of what is changed."""
    if imports.words(_IN_PLACE, location):
        return True
    return bool(imports.words(_LEAVES, location)) and may_apply_networks(imports.outline(location))


def _multiplies_backward(location: str, imports: Imports) -> bool:
    """Whether a file has an autograd function whose own backward computes products, or registers a hook that does."""
    function, hooks = imports.words(_FUNCTIONS, location), imports.words(HOOKED, location)
    if not function and not hooks:
        return False
    file = imports.outline(location)
    near = [imports.outline(one) for one in sorted({*imports.imported(location), *imports.through(location)})]
    return bool(function and multiplies_backward(file, near)) or multiplies_in_hooks(hooks, file, near)


def _near(amp: Sequence[str], beside: Iterable[str], imports: Imports) -> set[str]:
    """Files that users of amp import and that run networks outside of networks' own classes, hook into them, have to do
    with gradients, list attributes, or keep a network of which somebody takes it; and those with objects that run a
    network which they hold, if only somebody who imports a user of amp imports them (``beside`` are both): a data set
    with an encoder."""
    near = {one for one in taken_from(amp, imports).difference(amp) if not only_steps(one, beside, imports)}
    above = taken_from(beside, imports).difference(amp, near)
    asked = (_touches, _may_run_networks, _may_run_of_given, _keeps_results)
    found = {one for one in near if any(joins(one, imports) for joins in asked)}
    found.update(running_handed(amp, near, imports))
    taken_out = {name for one in beside for name in imports.words(_OF_OTHERS, one)}
    found |= {one for one in near if not _kept_networks(one, imports).isdisjoint(taken_out)}
    found |= {kept for one in found for kept in kept_by(one, imports)}.difference(amp)
    for one in near | above:
        behind = _made_behind(one, imports)
        if any(_touches(x, imports) or _may_hold_networks(x, imports) for x in behind):
            found |= {one, *behind}.difference(amp)
    runs = (_may_hold_networks, _may_run_networks, _may_run_of_given)
    return found | {one for one in above if any(joins(one, imports) for joins in runs)}


def _called_by_another_name(beside: Iterable[str], imports: Imports) -> set[str]:
    """Files that call what they are handed by a name that says nothing of a network (``self.score(x)``), and those that
    hand them what runs one (``partial(loss_of, net)``), with the files that have bases of their classes."""
    users = sorted({*beside, *taken_from(beside, imports)})
    tables = {user: imports.hands_runs(user) for user in users}
    every = {place: how for table in tables.values() for place, how in table.items()}
    if not every:
        return set()
    on = {user: imports.hands_on(user) for user in users}
    every = with_handed_on(every, (pair for pairs in on.values() for pair in pairs))
    found = set[str]()
    for user in users:
        handed = dict(tables[user])
        handed |= {place: every[place] for _, place in on[user] if place in every}
        for one in sorted({*imports.imported(user), *imports.through(user)}) if handed else ():
            bases = _made_behind(one, imports)
            called = imports.calls_handed((one, *sorted(bases)))
            if any(not how.isdisjoint(called.get(place, ())) for place, how in handed.items()):
                found |= {user, one, *bases}
    return found | _packages(found, found, imports)


def _far(amp: Sequence[str], told: Collection[str], members: Collection[str], imports: Imports) -> set[str]:
    """Files of which more has to be known, or with what looks at gradients, and that users of amp lead to by way of
    helpers and classes of other files, going by names: these files, and those on the way."""
    found = set[str]()
    joined = spread(amp, lambda at: (x for x in (*imports.imported(at), *imports.importers(at)) if x in members))
    for one in sorted({*files_below(amp, imports), *told}.difference(joined)):
        outline = imports.outline(one)
        names = {function.name for function in outline.functions} | {cls.name for cls in outline.classes}
        if one not in told:
            looking = {name for name in imports.words(CLIPS_OR_LOOKS, one) if not steps(name)}
            if not looking or imports.words(OPTIMIZER, one):
                continue
            names &= looking | {cls.name for cls in outline.classes if not looking.isdisjoint(cls.methods)}
        found |= led_to(one, frozenset(names), joined, imports)
    return found


def _training(members: Collection[str], imports: Imports) -> set[str]:
    """The files below some with what trains by itself and these lead to, going by names, with those on the way: a base
    class of the trainer, or a function of another file, has the network pretrained. No region may be around the call of
    that, as weights change below it."""
    found = set[str]()
    for one in files_below(sorted(members), imports):
        if one in members or not all(imports.words(pattern, one) for pattern in _TRAINS_ITSELF):
            continue
        if not imports.words(OPTIMIZER, one):
            outline = imports.outline(one)
            trains = {x.name for x in outline.functions if x.apart}
            trains |= {cls.name for cls in outline.classes if any(x.apart for x in cls.methods.values())}
            found |= led_to(one, frozenset(trains), members, imports)
    return found


def _touches(location: str, imports: Imports) -> bool:
    """Whether a file has to do with gradients, lists attributes of objects, or keeps what CUDA's autocast refuses."""
    return any(imports.words(pattern, location) for pattern in (TRAINS_OR_LOOKS, _LISTS, _REFUSED))


def _keeps_results(location: str, imports: Imports) -> bool:
    """Whether a file hooks into networks, whose results are half, and computes with what O1 made float32, or takes that
    from the GPU."""
    if not imports.words(_HOOKS, location):
        return False
    return bool(imports.words(_AS_FLOAT, location) or imports.words(_LEAVES, location))


def _kept_networks(location: str, imports: Imports) -> frozenset[str]:
    """What objects of a file call a network that they are handed, or a copy of it, and which others may run
    (``ema.module``)."""
    return kept_networks(imports.outline(location), [imports.outline(one) for one in imports.imported(location)])


def _may_run_networks(location: str, imports: Imports) -> bool:
    return may_run_networks(imports.outline(location), [imports.outline(one) for one in imports.imported(location)])


def _may_run_of_given(location: str, imports: Imports) -> bool:
    return may_run_of_given(imports.outline(location))


def _may_hold_networks(location: str, imports: Imports) -> bool:
    if imports.words(OPTIMIZER, location):
        return False
    return may_hold_networks(imports.outline(location), [imports.outline(one) for one in imports.imported(location)])


def _runs_later(location: str, imports: Imports) -> bool:
    """Whether a file may run a model in another thread, or bit by bit in a generator or a coroutine."""
    if imports.words(_YIELDS, location) and may_run_bit_by_bit(imports.outline(location)):
        return True
    runs = bool(imports.words(_RUNS_MODEL, location))
    return (runs or bool(imports.words(_HANDED, location))) and bool(imports.words(_THREADS, location))


def _joined(
    amp: Sequence[str], members: Iterable[str], joints: Mapping[str, frozenset[str]], imports: Imports
) -> list[list[str]]:
    """Members that belong together, one of them a user of amp; each behind those that it imports."""
    groups: dict[str, set[str]] = {one: {one} for one in sorted(members)}

    def join(one: str, other: str) -> None:
        if one in groups and other in groups and groups[other] is not groups[one]:
            groups[one] |= groups[other]
            for each in groups[other]:
                groups[each] = groups[one]

    for one in sorted(groups):
        for other in imports.imported(one):
            join(one, other)
    for one, reached in sorted(joints.items()):
        first, *rest = sorted(reached)
        for other in (*rest, one):
            join(first, other)
    return [
        _ordered(group, imports)
        for group in {id(group): group for group in groups.values()}.values()
        if len(group) > 1 and not group.isdisjoint(amp)
    ]


def _component(members: Sequence[str], selection: Selection, imports: Imports) -> Component | None:
    """None where it is too large, or where an import may mean several of its files."""
    at_hand = {source.location: source for source in (*selection.amp, *selection.candidates)}
    sources = [at_hand.get(one) or _source(selection.python[one], one) for one in members]
    if len(sources) > MOST_FILES or sum(source.size for source in sources) > MOST_BYTES:
        return None
    number = {source.location: index for index, source in enumerate(sources)}
    links: list[dict[str, int]] = []
    for source in sources:
        mine: dict[str, int] = {}
        for dotted, meant in imports.meant(source.location).items():
            if len(meant) > 1 and not number.keys().isdisjoint(meant):
                return None
            if meant and meant[0] in number:
                mine[dotted] = number[meant[0]]
        links.append(mine)
    taken = {location: imports.taken(location, number) for location in number}
    spelled, scalers = _spelled(selection, imports, number), _scalers(number, imports)
    switched, importables = _switched(number, imports), importable(number, imports.above(number))
    near = {
        at: Outside(
            taken[at],
            spelled,
            scalers,
            _elsewhere(at, imports),
            counted=_counted(at, imports),
            spoken=_spoken(at, imports),
            switched=switched,
            own=_own(at, imports),
            importable=importables[at],
            packaged=imports.taken_by_package(at, number),
            unread=imports.unread(at, number),
        )
        for at in number
    }
    return Component(tuple(replace(s, outside=near[s.location]) for s in sources), tuple(links))


def _source(shown: str, location: str) -> Source:
    """A file that is of interest for the sake of others only."""
    with suppress(OSError):
        return Source(shown, location, os.path.getsize(location), mentions=False)
    return Source(shown, location, 0, mentions=False)
