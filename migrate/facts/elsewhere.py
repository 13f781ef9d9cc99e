"""What other files of the tree make of networks, by their text alone: which classes are some, which functions give one
back, which functions and methods run one."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..flow.objects import SELF_METHODS
from ..imports.spelled import spelled
from ..knowledge import operations
from ..knowledge.gradients import CLEARS, steps
from ..knowledge.host import HOST_MODULES
from ..knowledge.models import (
    BUILDS,
    CALLED_AS_OTHER,
    FORWARDING,
    GENERATING,
    HANDS_ON,
    NETWORK_MADE,
    NO_NETWORK,
)
from .asked import asking, asks, both
from .class_tables import Table, plain_tables, tables
from .given_object import Paths, getters, paths, runs_of_given
from .idle import idle
from .in_threads import handed_to_threads
from .layers import Pairs, filled, kept_by_file, makes, properties
from .logical import logical_lines
from .looks_into import added_to, adds_input, asked_for_state, looked_into
from .parameters import parameters_of
from .put_by import asked_for_type, own_attributes, puts_by
from .reads_gradients import reads_gradients
from .sets_off import sets_off
from .shown_types import types_shown
from .sober import joined, sober
from .swallowing import swallows
from .taken import taken_by_name
from .ties import ties
from .usual_names import usual_names
from .widths import of_wide, wide

_PARENTHESES = r"\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)"
_BODY = r"([^\n]*\n?(?:\1[ \t]+[^\n]*\n?|[ \t\r]*\n)*)"
_CLASS = re.compile(r"^([ \t]*)class[ \t]+(\w+)[ \t]*(?:" + _PARENTHESES + ")?" + _BODY, re.M)
_FUNCTION = re.compile(r"^([ \t]*)((?:async[ \t]+)?def)[ \t]+(\w+)[ \t]*" + _PARENTHESES + _BODY, re.M)
_GIVEN = re.compile(r"\b((?:self\.)?\w+)[ \t]*=[ \t]*((?:\w+\.)*\w+)")
_SEVERAL = re.compile(r"^[ \t]*(self\.\w+(?:[ \t]*,[ \t]*self\.\w+)+)[ \t]*=[ \t]*([^=\n][^\n]*)$", re.M)
_EACH = re.compile(r"\bfor[ \t]+([\w(][\w, ()]{0,200}?)[ \t]+in[ \t]+(?:(?:enumerate|zip|reversed)\()?([\w., ]+)")
_CALLED = re.compile(r"((?<![\w.])\w+(?:\.\w+)*|\)(?=\(\s{0,80}[^)\s]))(?:\[[^\[\]\n]*\])?\(")
_NO_CODE = re.compile(r"#[^\n]*|\"{3}.*?\"{3}|'{3}.*?'{3}", re.S)
_HELD = re.compile(r"(?:\w+\.)*\w+")
_WITHIN = re.compile(r"^[ \t]*(?:async[ \t]+)?def\b", re.M)
_NAME, _SOURCE = re.compile(r"\w+"), re.compile(r"((?:self\.)?\w+)(?:\.values|\.items)?(?![\w.])")
_RETURNED = re.compile(r"\breturn[ \t]+((?:\w+\.)*\w+)(\()?")
# A list, dictionary or tuple that is given back: as it stands there, or under a name.
_RETURN = re.compile(r"\breturn\b")
_GIVES_MANY = re.compile(r"\breturn[ \t]*(?:[\[{]|\(?[\w.]{1,200}(?:\([^()\n]*\))?[ \t]*,)")
_MANY = re.compile(r"(?<![\w.])(\w+)[ \t]*=[ \t]*(?:[\[{]|(?:collections\.)?(?:dict|list|OrderedDict|defaultdict)\()")
_SET = re.compile(r"\bself\.(\w+)[ \t]*(?:=[^=]|,(?=[^()\n]{0,200}=[^=]))")
# What no region may be around, or what runs later than it is called.
_APART = re.compile(r"\.backward\(|\.step\(|\bzero_grad\(|\byield\b|\bscale_loss\(")
_HALF, _METHODS = ("|".join(sorted(names)) for names in (operations.O1_HALF, operations.O1_HALF_METHODS))
# A network that a function of torch's runs, which is handed it first.
_RUN_BY = re.compile(r"(?<!\w)(?:functional_call|checkpoint_sequential)\([ \t]*((?:\w+\.)*\w+)[ \t]*,")
_YIELD = re.compile(r"\byield\b")
_RUN = re.compile(r"\A\w*(?:model|net|network|encoder|decoder|critic|backbone|discriminator)\Z")
_FILLS = "|".join(sorted(operations.FILLS))
_FILLS_FAR = re.compile(rf"\.(?:{_FILLS})\([^\n]{{0,400}}-?\b(?:\d\.?\d*e(?:[5-9]|\d\d)|\d{{6,}})\b")
_ADDS_PART = re.compile(r"^[ \t]+\w+[ \t]*\+=[ \t]*self\.[\w.]+(?:\[.*\])?[ \t\r]*$", re.M)
_PRODUCT = re.compile(
    rf"\b(?:torch|F|functional)\.(?:{_HALF})\(|[\w\])]\.(?<!\bnp\.)(?<!\bnumpy\.)(?<!\blinalg\.)(?:{_METHODS})\("
    r"|\bself\.[\w.]+(?:\(\))?[ \t]*@[ \t]*self\."
)
_MATMUL = re.compile(r"[\w\])][ \t]*@[ \t]*[\w(]")  # numpy has the same sign
_STRING = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"")
# What takes a result from the GPU, and what it may be no half one before.
_LEAVES = re.compile(r"\.(?:cpu|numpy)\(\)")
_AS_TENSOR = (
    r"(?<![\w.])(\w+)(?:\[[^\[\]\n]*\])?\.(?:detach|data|cpu|cuda|numpy|clone|view|reshape|permute|transpose|squeeze|"
    r"unsqueeze|softmax|sigmoid|mul|add|sub|div|mm|matmul|abs|clamp|topk|argmax|size|shape|dim|t|pow|sum|exp|norm|mean|std|var)\b"
)
_OF_TORCH = r"\b(?:torch|F|functional)\.\w+\([ \t]*(\w+)[ \t]*[,)]"
_IN_MATMUL = r"(?<![\w.])(\w+)[ \t]*@|@[ \t]*(\w+)(?![\w.])"
_CALCULATED = r"\([ \t]*(\w+)[ \t]*[-+*/]{1,2}[ \t]*(\w+)[^()\n]*\)\.\w"
_TENSOR = re.compile(f"{_AS_TENSOR}|{_OF_TORCH}|{_IN_MATMUL}|{_CALCULATED}")
_NUMPY = re.compile(r"^[ \t]*(?:import|from)[ \t]+(?:numpy|scipy)\b", re.M)
_HANDS = re.compile(r"(?<![\w.])(\w+|self\.\w+)\(([^()]*)\)")
# What O1 ran in float32 and autocast does too, of torch and of a tensor; what stands before it where that is no result
# of a model, or no half one any more.
_TENSORS_WORK = "|".join(sorted(operations.O1_FLOAT - operations.HALF_NOT_FLOAT))
_TORCHS_WORK = "|".join(sorted(operations.O1_FLOAT_FUNCTIONAL))
_WIDENED = re.compile(
    rf"\b(?:torch|F|functional)\.(?:{_TENSORS_WORK}|{_TORCHS_WORK})\(|(\b\w+|[\])])\.(?:{_TENSORS_WORK})\("
)
_SPREAD = re.compile(r"\btorch\.(?:std|var)\(|(\b\w+|[\])])\.(?:std|var)\(")  # autocast leaves these in half
_NO_HALF = re.compile(
    r"\.(?:float|double|eq|ne|gt|lt|ge|le|long|int|bool|item|numpy|cpu|argmax|isnan|isinf)\(|[=!<>]=|[<>]|\bnp\."
)
_COUNTS = re.compile(r"\b(?:correct|count|mask|num|match|weight)")  # anywhere before it in the line: what it goes to
_NO_TENSORS = HOST_MODULES | frozenset("self torch F functional nn optim dist wandb writer summary tf pd plt".split())

_NOTHING = frozenset[str]()

Handed = frozenset[tuple[int, str]]  # parameters of a function, by number and name


@dataclass(frozen=True)
class Elsewhere:
    """Names of other files. ``networks`` are classes of networks, and functions that give one back; ``running`` are
    functions, and methods as ``Class.method``, that run a network of their own, ``applying`` functions with those of
    their parameters, by number and name, that they run. ``plain`` are classes that are no networks for sure, tables of
    such, and functions that give back none. ``methods`` says for a function which it calls of what it is handed, by the
    parameter's number and name, for a class the same of its constructor, and which any of its methods calls of what it
    holds (None).
    ``multiplying`` are functions and methods outside of networks that compute products of torch, ``widening`` those
    that compute what O1 ran in float32, ``operations`` all functions that networks call. ``leaving`` are functions and
    methods that take tensors which they are handed from the GPU, ``computing`` those that multiply them or compute what
    O1 ran in float32, with the parameters; ``emptying`` take from the GPU what lies in a list or dictionary that they
    are handed. ``keeping`` says for a class which attributes of its objects hold what they are made with, and which
    methods and properties give those back; ``several`` are networks, and functions that make one, whose result is a
    list, dictionary or tuple. ``idle`` are methods that run nothing of what they hold or are handed, ``asking`` says
    for a function which parameters it only asks for their state, ``sober`` whether all functions of a name compute
    nothing where O1's casts would have reached it. ``swallowing`` are functions that keep to themselves what their
    block raises, or a function that they were handed, and classes whose objects do so at the end of a block.
    ``looking`` are functions and methods that look into what they are handed, or put it by where another method does,
    ``typing`` those that show the type of what they are handed,
    ``adding_input`` networks whose forward adds what it is handed in place to something else, ``by_name`` the functions
    of torch that files took by name, ``setting_off`` which settings functions and methods switch off of what they are
    handed, ``threading`` which of what they are handed they have another thread run, ``tying`` are functions, methods
    and classes that give a network a weight of another one, ``gradients`` functions and methods that look at gradients,
    or call one that does, but for those that step or clear."""

    networks: frozenset[str] = frozenset()
    plain: frozenset[str] = frozenset()
    running: frozenset[str] = frozenset()
    applying: Mapping[str, frozenset[tuple[int, str]]] = field(default_factory=dict)
    methods: Mapping[str, frozenset[tuple[int | str | None, str]]] = field(default_factory=dict)
    multiplying: frozenset[str] = frozenset()
    widening: frozenset[str] = frozenset()
    operations: frozenset[str] = frozenset()
    leaving: Mapping[str, Handed] = field(default_factory=dict)
    computing: Mapping[str, Handed] = field(default_factory=dict)
    emptying: Mapping[str, Handed] = field(default_factory=dict)
    keeping: Mapping[str, frozenset[str]] = field(default_factory=dict)
    several: frozenset[str] = frozenset()
    idle: frozenset[str] = frozenset()
    asking: Mapping[str, Handed] = field(default_factory=dict)
    sober: Mapping[str, bool] = field(default_factory=dict)
    swallowing: frozenset[str] = frozenset()
    looking: Mapping[str, Handed] = field(default_factory=dict)
    typing: Mapping[str, Handed] = field(default_factory=dict)
    adding_input: frozenset[str] = frozenset()
    by_name: frozenset[str] = frozenset()
    setting_off: Mapping[str, frozenset[str]] = field(default_factory=dict)
    threading: Mapping[str, Handed] = field(default_factory=dict)
    tying: frozenset[str] = frozenset()
    stating: Mapping[str, Handed] = field(default_factory=dict)
    gradients: frozenset[str] = frozenset()

    def with_(self, other: Elsewhere) -> Elsewhere:
        """This, and what another has."""
        applying = {**self.applying, **other.applying}
        plain, methods = self.plain | other.plain, {**self.methods, **other.methods}
        return Elsewhere(
            self.networks | other.networks,
            plain,
            self.running | other.running,
            applying,
            methods,
            self.multiplying | other.multiplying,
            self.widening | other.widening,
            self.operations | other.operations,
            {**self.leaving, **other.leaving},
            {**self.computing, **other.computing},
            {**self.emptying, **other.emptying},
            {**self.keeping, **other.keeping},
            self.several | other.several,
            self.idle | other.idle,
            both(self.asking, other.asking),
            joined(self.sober, other.sober),
            self.swallowing | other.swallowing,
            {**self.looking, **other.looking},
            {**self.typing, **other.typing},
            self.adding_input | other.adding_input,
            self.by_name | other.by_name,
            {**self.setting_off, **other.setting_off},
            {**self.threading, **other.threading},
            self.tying | other.tying,
            {**self.stating, **other.stating},
            self.gradients | other.gradients,
        )


NOWHERE = Elsewhere()


@dataclass(frozen=True)
class _Function:
    """A function by its text: what it is handed, which names it gives what is made by which call or name, which it
    goes through for which, what it calls and what it gives back; which attributes of its object it sets. ``apart`` is
    one that no region may be around, ``builds`` one that is called as what puts a network together, or none,
    ``multiplies`` one that computes a product of torch, ``widens`` one that computes what O1 ran in float32,
    ``spreads`` one that does so where autocast does not, ``yields`` a generator, ``leaves`` one that takes something
    from the GPU; ``tensors`` are names that it takes for tensors, ``hands`` what it hands to which function;
    ``puts_by`` which attribute of its object gets which parameter, ``reads`` are the attributes that it names;
    ``powers`` one with powers in it, ``swallows`` one that keeps exceptions to itself, ``many`` is one that gives back
    a list, dictionary or tuple, ``paths`` are the attributes of what it is given, ``asks`` the parameters that it only
    asks for their state; ``looks`` are the names that it looks into, ``types`` those whose type it shows, ``adds`` the
    parameters that it adds to in place, ``adds_input`` one that adds a parameter in place to something else;
    ``ties`` one that gives a network a weight of another one, ``gradients`` one that looks at gradients;
    ``sets_off`` the settings that it switches off; ``threads`` are names that another thread gets; ``within`` are the
    functions that stand in it and that it gives back: a callback; ``filled`` is what items, defaults and the names of
    its file are given."""

    name: str
    parameters: tuple[str, ...]
    given: tuple[tuple[str, str], ...]
    each: tuple[tuple[frozenset[str], frozenset[str]], ...]
    called: frozenset[str]
    returned: tuple[tuple[str, str], ...]
    attributes: frozenset[str]
    apart: bool
    builds: bool
    multiplies: bool
    widens: bool
    spreads: bool
    yields: bool
    leaves: bool
    tensors: frozenset[str]
    hands: frozenset[tuple[str, str]]
    many: bool
    paths: Paths
    asks: frozenset[str]
    powers: bool
    swallows: bool
    puts_by: frozenset[tuple[str, str]]
    reads: frozenset[str]
    looks: frozenset[str]
    states: frozenset[str]
    types: frozenset[str]
    adds: frozenset[str]
    adds_input: bool
    ties: bool
    gradients: bool
    sets_off: frozenset[str]
    threads: frozenset[str]
    within: tuple[_Function, ...]
    filled: Pairs = ()

    @property
    def works(self) -> bool:
        """Whether it computes something where O1's casts reached it, or may run a network."""
        computes = _computes(self) or self.powers
        return computes or self.apart or self.builds or bool(_applied(self))


@dataclass(frozen=True)
class _Class:
    name: str
    bases: tuple[str, ...]
    methods: Mapping[str, _Function]
    properties: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Outline:
    """The classes of a file and its functions; one within a function is nobody else's."""

    classes: tuple[_Class, ...] = ()
    functions: tuple[_Function, ...] = ()
    taken: frozenset[tuple[str, str]] = frozenset()  # functions of torch by a name of the file's own, and torch's
    tables: tuple[Table, ...] = ()  # of classes
    kept: Pairs = ()  # what its names are given
    imported: frozenset[tuple[str, str]] = frozenset()

    @property
    def every(self) -> list[_Function]:
        """Its functions and methods."""
        return [*self.functions, *(method for cls in self.classes for method in cls.methods.values())]


def defined(text: str) -> tuple[str, ...]:
    """What the functions and methods of a file are called, a method once for each class: nothing else is asked of them,
    which takes far less."""
    text = _NO_CODE.sub("", text)
    methods = [dict.fromkeys(_named(body)) for _, _, _, body in _CLASS.findall(text)]
    functions = _named(_CLASS.sub("", text) if methods else text)
    return (*functions, *(name for each in methods for name in each))


def _named(text: str) -> list[str]:
    return [name for _, _, name, _, _ in _FUNCTION.findall(text)]


def outline(text: str) -> Outline:
    """What a file has of these, by its text, whatever stands in it."""
    text = usual_names(logical_lines(text))
    numpy = "numpy" in text and bool(_NUMPY.search(text))
    classes = tuple(_classes(text, numpy))
    functions = tuple(_functions(_CLASS.sub("", text) if classes else text, numpy))
    kept, imports = kept_by_file(text), spelled(text.encode("utf-8", "replace"))
    functions += tuple(_callbacks(functions, kept))
    return Outline(classes, functions, frozenset(taken_by_name(text, imports)), tables(text), kept, imports.names())


def _callbacks(functions: Iterable[_Function], kept: Pairs) -> Iterator[_Function]:
    """The names of a file that hold what a function of it gives back, as the function that they are then:
    ``distance = make_distance()``."""
    makers = {one.name: one for one in functions if one.within}
    for name, maker in kept:
        if (around := makers.get(maker)) is not None:
            for one in around.within:
                yield replace(one, name=name, filled=(*one.filled, *around.given, *around.filled))


def _with_kept(file: Outline, kept: Mapping[str, set[str]]) -> Outline:
    """A file whose functions know what its names hold, and those that it takes from others."""

    def knowing(one: _Function) -> _Function:
        own = {*one.parameters, *(name for name, _ in one.given)}
        asked = {*one.called, *(name for name, _ in one.returned), *(name for _, old in one.each for name in old)}
        asked |= {maker for _, maker in one.given}
        more = [pair for pair in file.kept if pair[0].partition(".")[0] not in own]
        for called in sorted(asked):
            first, _, last = called.rpartition(".")
            if (name := first or last) in taken and name not in own:
                more += ((called, maker) for maker in sorted(kept.get(last if first else taken[name], ())))
        return replace(one, filled=(*one.filled, *more)) if more else one

    taken = dict(sorted(file.imported))
    if not file.kept and not taken:
        return file
    classes = tuple(replace(c, methods={name: knowing(one) for name, one in c.methods.items()}) for c in file.classes)
    return replace(file, classes=classes, functions=tuple(map(knowing, file.functions)))


def elsewhere(outlines: Sequence[Outline]) -> Elsewhere:
    """What several files make of networks, all together: their names are not told apart."""
    kept: dict[str, set[str]] = {}
    for name, maker in (pair for file in outlines for pair in file.kept):
        kept.setdefault(name, set()).add(maker)
    outlines = [_with_kept(file, kept) for file in outlines]
    classes = [one for file in outlines for one in file.classes]
    functions = [one for file in outlines for one in file.functions]
    networks = _networks(classes, functions)
    plain = {one.name: one for one in classes if not _modules(one.bases, networks)}
    running = _all(lambda found: _running(functions, plain, networks, found))
    runs = {name.removesuffix(".__call__") for name in running if name.endswith(".__call__")} | networks
    running |= {name for name, given in kept.items() if any(makes(maker, runs) for maker in given)}
    methods = [(cls, method) for cls, _, method in (one.partition(".") for one in running) if method]
    running |= {f"{name}.{method}" for name, given in kept.items() for cls, method in methods if cls in given}
    made = [_constructed(cls, init) for cls in classes if (init := cls.methods.get("__init__")) is not None]
    multiplying = _all(lambda found: _computing(functions, classes, plain, found, _product))
    widening = _all(lambda found: _computing(functions, classes, plain, found, _float_work))
    parts = {**{one.name: one for one in functions}, **_methods(classes)}
    leaving = _handed(parts, _taken_away)
    computing = _handed(parts, _computed_with)
    looking = _handed(parts, lambda one: one.looks)
    shared = [{name: one for name, one in parts.items() if name.partition(".")[0] == cls.name} for cls in classes]
    shared += [{one.name: one for one in file.functions} for file in outlines]
    leaving = _put_by(leaving, shared, lambda one: one.reads if one.leaves else _NOTHING)
    computing = _put_by(computing, shared, lambda one: one.reads if _computes(one) else _NOTHING)
    looking = _put_by(looking, shared, lambda one: one.looks & one.reads)
    emptying = {name: frozenset(enumerate(one.parameters)) for name, one in parts.items() if one.leaves}
    emptying = {name: handed for name, handed in emptying.items() if name not in leaving}
    used = frozenset(
        called.rpartition(".")[2]
        for cls in classes
        if cls.name not in plain
        for method in cls.methods.values()
        for called in method.called
        if called.partition(".")[0] not in HOST_MODULES
    )
    made_by_functions = frozenset(called.rpartition(".")[2] for one in functions for called in one.called)
    used |= made_by_functions & {operations.RESPONSE_NORM_LAYER}
    by_name = frozenset(name for file in outlines for name in _by_name(file, plain))
    asked = {one.name: found for one in functions if (found := _asked(one))}
    for cls in classes:
        init = cls.methods.get("__init__")
        own = _asked(_constructed(cls, init)) if init is not None else frozenset()
        if found := _asked_of_held(cls) | own:
            asked[cls.name] = found
    applying = _applying([*functions, *made])
    plain_names = _plain(plain.values(), functions, networks)
    plain_names |= plain_tables([file.tables for file in outlines], plain_names)
    return Elsewhere(
        networks,
        plain_names,
        running,
        applying,
        asked,
        multiplying,
        widening,
        used,
        leaving,
        computing,
        emptying,
        {one.name: held for one in classes if (held := _kept(one, classes))},
        _all(lambda found: _several(classes, functions, found)),
        idle(classes, plain_names),
        asking(functions, {cls.name for cls in classes}),
        sober(functions),
        frozenset(
            [one.name for one in functions if one.swallows]
            + [cls.name for cls in classes if "__exit__" in cls.methods and cls.methods["__exit__"].swallows]
        ),
        looking,
        _handed(parts, lambda one: one.types),
        frozenset(cls.name for cls in classes if "forward" in cls.methods and cls.methods["forward"].adds_input),
        by_name,
        {name: one.sets_off for name, one in parts.items() if one.sets_off},
        {**_handed(parts, lambda one: one.threads), **dict(_made_for_threads(classes))},
        frozenset([name for name, one in parts.items() if one.ties] + [one.name for one in classes if _ties(one)]),
        {
            name.removesuffix(".__init__"): handed
            for name, handed in _put_by(_handed(parts, lambda one: one.states), shared, lambda one: one.states).items()
        },
        _all(lambda found: _of_gradients(parts, found)),
    )


def _of_gradients(parts: Mapping[str, _Function], found: Collection[str]) -> Iterator[str]:
    """The functions and methods that look at gradients, or call a function that does, or a method of their own class:
    of others it is not known."""
    for name, one in parts.items():
        own = name.rpartition(".")[0]
        called = {f"{own}.{x[5:]}" if own and x.startswith("self.") else x.rpartition(".")[2] for x in one.called}
        if (one.gradients or not called.isdisjoint(found)) and not steps(one.name) and not CLEARS.fit(one.name):
            yield name


def _ties(cls: _Class) -> bool:
    """Whether an object of a class has networks share a weight as it is made."""
    return "__init__" in cls.methods and cls.methods["__init__"].ties


def _by_name(file: Outline, plain: Collection[str]) -> Iterator[str]:
    """Functions of torch that a file took by name and that its networks and functions use."""
    methods = [method for cls in file.classes if cls.name not in plain for method in cls.methods.values()]
    called = {name for one in (*file.functions, *methods) for name in one.called}
    yield from (torchs for local, torchs in file.taken if not local or local in called)


def _asked(function: _Function) -> frozenset[tuple[int | str | None, str]]:
    """The methods that a function calls of its parameters."""
    pairs = [(owner, last) for one in function.called for owner, _, last in [one.rpartition(".")]]
    named: list[tuple[int | str | None, str]] = [(owner, last) for owner, last in pairs if owner in function.parameters]
    return frozenset((*named, *((function.parameters.index(str(owner)), last) for owner, last in named)))


def _asked_of_held(cls: _Class) -> frozenset[tuple[int | str | None, str]]:
    called = {one for method in cls.methods.values() for one in method.called}
    return frozenset((None, one.rpartition(".")[2]) for one in called if one.count(".") > 1)


def may_run_bit_by_bit(file: Outline) -> bool:
    """Whether a file has a generator that runs a model, or what it is handed, itself or by a function of the file."""
    functions = file.every
    calls = [(one, {called.rpartition(".")[2] for called in one.called}) for one in functions]
    own = {one.name for one in functions}
    run = _all(lambda more: (one.name for one, names in calls if any(n in more or _runs_model(n, own) for n in names)))
    handed = {one.name for one in functions if _runs_handed(replace(one, apart=False))}
    return any(one.yields and one.name in run | handed for one in functions)


def _runs_handed(function: _Function, around: Collection[str] = ()) -> bool:
    """Whether a function runs what it is handed, or what the one ``around`` it is."""
    known = [name for name in around if name not in ("self", *function.parameters) and not _other(name)]
    return any(not _other(name) for _, name in _applied(function)) or _runs(function, frozenset(known), ())


def _runs_model(name: str, own: Collection[str]) -> bool:
    """Whether a call of this name is one of a model: not of a function of the file that makes one."""
    return bool(_RUN.match(name)) and name not in own and not name.startswith(("get_", "build_", "make_", "create_"))


def may_run_networks(file: Outline, imported: Sequence[Outline]) -> bool:
    """Whether objects of a file may run networks that they hold or are handed, or its functions one that they ask for:
    what the text of a function does not say. ``imported`` are the files that it imports."""
    return any(")" in one.called for one in file.functions) or may_hold_networks(file, imported)


def may_apply_networks(file: Outline) -> bool:
    """Whether a function of a file runs what it is handed, and that is called as a network may be."""
    return any(map(_runs_handed, file.every))


def runs_what_it_makes(file: Outline, names: Collection[str]) -> bool:
    """Whether one of some functions of a file calls what it makes: ``model = make(); model(x)``, ``Net()(x)``."""
    mine = [one for one in file.functions if one.name in names]
    return any(")" in one.called or any(name in one.called for name, _ in one.given) for one in mine)


def may_run_of_given(file: Outline) -> bool:
    """Whether a method of a file runs the network of an object that it is handed: ``engine.model(x)`` in a callback; or
    what a function gives back does, which may be a method then: a decorator."""
    methods = [method for cls in file.classes for method in cls.methods.values()]
    asked = [(one.parameters, called.rpartition("."), False) for one in methods for called in one.called]
    given_back = [within for one in file.functions for within in one.within]
    asked += [(one.parameters, called.rpartition("."), True) for one in given_back for called in one.called]
    return any(
        (owner != "self" or decorates) and owner in given and bool(_RUN.match(name))
        for given, (owner, _, name), decorates in asked
    )


def applied_by(file: Outline, names: Collection[str]) -> bool:
    """Whether one of some functions of a file does so."""
    return any(one.name in names and _runs_handed(one) for one in file.functions)


def makers_of(files: Iterable[Outline], networks: Collection[str]) -> frozenset[str]:
    """The functions of some files that give back an object of one of these classes, or of one from a table."""
    functions = [one for file in files for one in file.functions]
    table = {one.name for one in functions if any(name.rpartition(".")[2].isupper() for name, _ in one.returned)}
    return _all(lambda found: (x.name for x in functions if x.name in table or _gives_back(x, {*networks, *found})))


def networks_spread(file: Outline) -> bool:
    """Whether a network of a file computes the variance of a tensor that may be half."""
    networks = _networks(file.classes, ())
    return any(one.spreads for cls in file.classes if cls.name in networks for one in cls.methods.values())


def spreads(file: Outline) -> bool:
    """Whether a function of a file does so."""
    return any(one.spreads for one in file.functions)


def may_hold_networks(file: Outline, imported: Sequence[Outline]) -> bool:
    """Whether objects of a file may run networks that they hold or are handed, or functions that its functions give
    back: who calls these calls them by another name."""
    if any(_runs_handed(within, one.parameters) for one in file.every for within in one.within):
        return True
    every = (file, *imported)
    networks = _networks([cls for one in every for cls in one.classes], [f for one in every for f in one.functions])
    plain = [one for one in file.classes if not _modules(one.bases, networks)]
    if any(runs_of_given(one.paths) for one in file.functions):
        return True
    back = frozenset().union(*(getters(cls.methods) for one in every for cls in one.classes))
    if any(not back.isdisjoint(cls.methods) for cls in plain):
        return True
    methods = [(cls, method) for cls in plain for method in cls.methods.values()]
    return any(_calls_what_it_holds(cls, one) or runs_of_given(one.paths, cls.methods, back) for cls, one in methods)


def kept_networks(file: Outline, imported: Sequence[Outline]) -> frozenset[str]:
    """The attributes of a file's objects, but for networks themselves, that hold a network which a method is handed, by
    its name, or a copy of it: ``self.ema = deepcopy(model)``."""
    every = (file, *imported)
    networks = _networks([cls for one in every for cls in one.classes], [f for one in every for f in one.functions])
    methods = [one for cls in file.classes if not _modules(cls.bases, networks) for one in cls.methods.values()]
    put = ((one, name, given) for one in methods for name, given in one.puts_by)
    return frozenset(name for one, name, given in put if given in one.parameters and NETWORK_MADE.fit(given))


def _calls_what_it_holds(cls: _Class, method: _Function) -> bool:
    held = {name for one in cls.methods.values() for name in one.attributes} - cls.methods.keys()
    handed = {*method.parameters} - {"self", "cls"}
    sources = {one for one in ({f"self.{name}" for name in held} | handed) if not _other(one.removeprefix("self."))}
    items = {name for new, old in method.each if old & sources for name in new}
    for called in method.called:
        owner, _, last = called.rpartition(".")
        if (last in held if owner == "self" else called in handed | items) and not _other(last):
            return True
        if owner in handed and NETWORK_MADE.fit(last):
            return True  # runner.model(x)
        run = FORWARDING.fit(last) or GENERATING.fit(last)
        if owner in items and run:
            return True  # for one in self.models: one.encode(x)
        part = owner.removeprefix("self.")
        if part != owner and part in held and not _other(part) and run:
            return True  # self.vae.encode(x)
    return False


def _other(name: str) -> bool:
    """Whether something is called as no network is."""
    return CALLED_AS_OTHER.fit(name)


def _all(more: Callable[[frozenset[str]], Iterable[str]]) -> frozenset[str]:
    """What follows from nothing, from that, and so on."""
    found: frozenset[str] = frozenset()
    while not found.issuperset(new := frozenset(more(found))):
        found |= new
    return found


def _classes(text: str, numpy: bool) -> Iterator[_Class]:
    for _, name, bases, body in _CLASS.findall(text):
        last = tuple(base.strip().split(".")[-1] for base in bases.split(","))
        yield _Class(name, last, {one.name: one for one in _functions(body, numpy)}, properties(body))


def _functions(text: str, numpy: bool) -> Iterator[_Function]:
    for _, kind, name, parameters, body in _FUNCTION.findall(text):
        names = tuple(parameters_of(parameters))
        yield _Function(
            name,
            names,
            (*_GIVEN.findall(body), *_of_tuples(body)),
            tuple((frozenset(_NAME.findall(new)), frozenset(_SOURCE.findall(old))) for new, old in _EACH.findall(body)),
            frozenset(_CALLED.findall(body)) | frozenset(_said_of(body)),
            tuple(_RETURNED.findall(body)),
            frozenset(_SET.findall(body)),
            apart=bool(_APART.search(body)),
            builds=NO_NETWORK.fit(name) or BUILDS.fit(name),
            multiplies=bool(_PRODUCT.search(body)) or (not numpy and bool(_MATMUL.search(_STRING.sub("''", body)))),
            widens=_works(_WIDENED, body, names),
            spreads=_works(_SPREAD, body, names),
            yields=kind != "def" or ("yield" in body and bool(_YIELD.search(body))),
            leaves=bool(_LEAVES.search(body)) and any(map(_leaves, body.splitlines())),
            tensors=frozenset(name for found in _TENSOR.findall(body) for name in found if name)
            - asked_for_type(body),
            hands=frozenset((name, one) for name, given in _HANDS.findall(body) for one in _NAME.findall(given)),
            many=_many(body),
            paths=paths(parameters, body),
            asks=asks(parameters, names, body),
            powers="**" in body or ".pow(" in body,
            swallows=swallows(name, parameters, body),
            puts_by=puts_by(body, names),
            reads=own_attributes(body),
            looks=looked_into(body),
            states=asked_for_state(body),
            types=types_shown(body),
            adds=added_to(body, names),
            adds_input=name == "forward" and adds_input(body, names),
            ties=ties(body),
            gradients=reads_gradients(body),
            sets_off=sets_off(body, names),
            threads=handed_to_threads(body),
            within=tuple(_given_back(body, numpy)),
            filled=filled(parameters, body),
        )


def _given_back(body: str, numpy: bool) -> Iterator[_Function]:
    """The functions that stand in one and that it gives back by their names."""
    if _WITHIN.search(body):
        names = {name for name, called in _RETURNED.findall(body) if not called}
        yield from (one for one in _functions(body, numpy) if one.name in names)


def _said_of(body: str) -> Iterator[str]:
    """What a function does beside calls, and what is called by a function of torch's."""
    yield from _RUN_BY.findall(body)
    if _ADDS_PART.search(body):
        yield operations.IN_PLACE
    if _FILLS_FAR.search(body):
        yield operations.FAR_FILL


def _networks(classes: Iterable[_Class], functions: Iterable[_Function]) -> frozenset[str]:
    """Classes that derive from a module, directly or through others, and functions that give an object of one back."""
    found: set[str] = set()
    while True:
        more = {one.name for one in classes if _modules(one.bases, found)}
        more |= {one.name for one in functions if _gives_back(one, found)}
        more |= {
            f"{cls.name}.{method.name}"
            for cls in classes
            for method in cls.methods.values()
            if _gives_back(method, found)
        }
        if not (more := {name for name in more - found if not NO_NETWORK.fit(name)}):
            return frozenset(found)
        found |= more


def _several(classes: Iterable[_Class], functions: Iterable[_Function], found: Collection[str]) -> Iterator[str]:
    """Networks whose forward gives back a list, dictionary or tuple, and functions that give one of these back."""
    for cls in classes:
        forward = cls.methods.get("forward")
        if forward.many if forward is not None else any(base in found for base in cls.bases):
            yield cls.name
    yield from (one.name for one in functions if _gives_back(one, found, layers=False))


def _modules(bases: Iterable[str], networks: Collection[str]) -> bool:
    """Whether a class with these bases is a module."""
    return any(base in networks or base.endswith("Module") for base in bases)


def _plain(classes: Collection[_Class], functions: Collection[_Function], networks: frozenset[str]) -> frozenset[str]:
    """Of classes that are no modules as far as these files tell those that derive from nothing else; and functions
    that give back no object which might be a network."""
    closed = [one for one in classes if "__enter__" not in one.methods]
    found = _all(lambda more: (one.name for one in closed if more.issuperset({*one.bases} - {"", "object", "dict"})))
    return found | {one.name for one in functions if not _may_give_back(one, networks, found)}


def _may_give_back(function: _Function, networks: frozenset[str], plain: frozenset[str]) -> bool:
    """Whether what a function gives back may be a network: it is called like one, or made by a class that is not
    known, or by a call that hands on what it is of."""
    if function.yields or any(name in function.parameters for name, called in function.returned if not called):
        return True  # what a context manager enters; what it is handed
    given = {(name, maker) for name, maker in function.given}
    said = [name for name, _ in function.returned]
    for whole in (*said, *(maker for name, maker in given if name in said)):
        name = whole.split(".")[-1]
        if name not in plain and (name in networks or NETWORK_MADE.fit(name) or HANDS_ON.fit(name)):
            return True
        if name[:1].isupper() and name not in plain and not _other(name):
            return True
    return False


def _gives_back(function: _Function, networks: Collection[str], layers: bool = True) -> bool:
    """Whether a function gives back one of these networks, or one of torch's ``layers``."""
    made = _made(function, networks, layers)
    return any(makes(name, networks, layers) if called else name in made for name, called in function.returned)


def _running(
    functions: Iterable[_Function], plain: Mapping[str, _Class], networks: frozenset[str], running: frozenset[str]
) -> Iterator[str]:
    """Functions and methods that run a network of their own, directly or by what is known to."""
    for one in functions:
        if not one.builds and _runs(one, _made(one, networks), running):
            yield one.name
    for cls in plain.values():
        mine = {name.partition(".")[2] for name in running if name.partition(".")[0] in (cls.name, *cls.bases)}
        yield from (f"{cls.name}.{name}" for name in mine - cls.methods.keys())
        held = _held(cls, networks, plain)
        held |= {f"self.{name}" for name in cls.properties if f"{cls.name}.{name}" in networks}
        known = running | {f"self.{name}" for name in mine}
        for name, method in cls.methods.items():
            if not method.builds and _runs(method, held | _made(method, networks), known):
                yield f"{cls.name}.{name}"


def _constructed(cls: _Class, init: _Function) -> _Function:
    """The constructor of a class as the function that somebody calls."""
    return replace(init, name=cls.name, parameters=init.parameters[1:])


def _methods(classes: Iterable[_Class]) -> dict[str, _Function]:
    """The methods of classes as functions of what they are handed beside their object, also of those that derive from
    them."""
    every = {cls.name: cls for cls in classes}
    found: dict[str, _Function] = {}
    for cls in every.values():
        line, todo = [cls], [*cls.bases]
        while todo and len(line) < len(every):
            if (base := every.get(todo.pop())) is not None and base not in line:
                line.append(base)
                todo += base.bases
        for one in line:
            for name, method in one.methods.items():
                if name != "forward":
                    own = method.parameters[method.parameters[:1] in (("self",), ("cls",)) :]
                    found.setdefault(f"{cls.name}.{name}", replace(method, parameters=own))
    return found


def _kept(cls: _Class, classes: Collection[_Class]) -> frozenset[str]:
    """The attributes of a class, and of its bases, that hold what a method was handed, and what gives them back."""
    every = [cls, *(one for one in classes if one.name in cls.bases and one is not cls)]
    methods = [method for one in every for method in one.methods.values()]
    given = {(name, held) for one in methods for name, held in one.given if _itself(held) in one.parameters}
    attributes = {name.removeprefix("self.") for name, _ in given if name.startswith("self.")}
    back = {one.name for one in methods if any(name.removeprefix("self.") in attributes for name, _ in one.returned)}
    return frozenset(attributes | back)


def _itself(held: str) -> str:
    """What a value is that a method of it gives back: ``model.eval()``."""
    owner, _, method = held.rpartition(".")
    return owner if owner and method in SELF_METHODS else held


def _handed(functions: Mapping[str, _Function], does: Callable[[_Function], frozenset[str]]) -> dict[str, Handed]:
    """The functions that do something with names of theirs, themselves or by others that they hand it, with the
    parameters among these."""
    found: dict[str, frozenset[str]] = {}
    todo = True
    while todo:
        todo = False
        names = {f"self.{method}" if method else name for name in found for _, _, method in [name.partition(".")]}
        for name, one in functions.items():
            mine = frozenset({*does(one), *(given for callee, given in one.hands if callee in names)})
            mine &= frozenset(one.parameters)
            if mine and mine != found.get(name):
                found[name], todo = mine, True
    return {
        name: frozenset((n, one) for n, one in enumerate(functions[name].parameters) if one in tensors)
        for name, tensors in found.items()
    }


def _made_for_threads(classes: Iterable[_Class]) -> Iterator[tuple[str, Handed]]:
    """The classes whose objects have another thread run what they are made with: they hand it over, or are threads
    themselves and call it."""
    for cls in classes:
        init, run = cls.methods.get("__init__"), cls.methods.get("run")
        if init is None:
            continue
        kept = {f"self.{name}" for one in cls.methods.values() for name in one.threads}
        if run is not None and any(base.rpartition(".")[2] == "Thread" for base in cls.bases):
            kept |= run.called
        mine = {given for attribute, given in init.given if attribute in kept}
        parameters = [one for one in init.parameters if one != "self"]
        if held := frozenset((n, one) for n, one in enumerate(parameters) if one in mine):
            yield cls.name, held


def _of_tuples(body: str) -> Iterator[tuple[str, str]]:
    """What attributes are given of a tuple: ``self.model, self.decay = model, decay``."""
    for targets, values in _SEVERAL.findall(body) if "self." in body else ():
        names, given = targets.split(","), values.split(",")
        if len(names) == len(given):
            for name, value in zip(names, given, strict=True):
                if held := _HELD.match(value.strip()):
                    yield name.strip(), held[0]


def _computes(function: _Function) -> bool:
    return function.multiplies or function.widens or function.spreads


def _taken_away(function: _Function) -> frozenset[str]:
    return function.tensors if function.leaves else _NOTHING


def _computed_with(function: _Function) -> frozenset[str]:
    return function.adds | (function.tensors if _computes(function) else _NOTHING)


def _put_by(
    found: dict[str, Handed], shared: Iterable[Mapping[str, _Function]], does: Callable[[_Function], frozenset[str]]
) -> dict[str, Handed]:
    """These, and the methods of a class, or functions of a file, that put by what they are handed, and of which another
    one does that with an attribute, or constant, where it is put by."""
    more = dict(found)
    for functions in shared:
        read = {place for one in functions.values() for place in does(one)}
        for name, one in functions.items():
            mine = {given for place, given in one.puts_by if place in read}
            handed = frozenset((n, given) for n, given in enumerate(one.parameters) if given in mine)
            if handed:
                more[name] = more.get(name, frozenset()) | handed
    return more


def _many(body: str) -> bool:
    """Whether whatever a function gives back is a list, dictionary or tuple."""
    kept = frozenset(_MANY.findall(body))
    named = [name for name, called in _RETURNED.findall(body) if not called and name in kept]
    return 0 < len(_RETURN.findall(body)) == len(_GIVES_MANY.findall(body)) + len(named)


def _leaves(line: str) -> bool:
    """Whether a line takes from the GPU what may be a half result."""
    return any(_may_be_half(line, found.start()) for found in _LEAVES.finditer(line))


def _may_be_half(line: str, end: int) -> bool:
    """Whether what ends there in a line may be a half result. What else the line converts is another matter:
    ``loss.float() + kept.sum()``."""
    return not (_NO_HALF.search(_operand(line, end)) or _COUNTS.search(line[:end]))


def _operand(line: str, end: int) -> str:
    """The name, attribute, item or call that ends there."""
    at, depth = end, 0
    while at and (depth or line[at - 1] in ")]}._" or line[at - 1].isalnum()):
        at -= 1
        depth += (line[at] in ")]}") - (line[at] in "([{")
    return line[at:end]


def _product(function: _Function) -> bool:
    return function.multiplies


def _float_work(function: _Function) -> bool:
    return function.widens


def _works(pattern: re.Pattern[str], body: str, parameters: Collection[str]) -> bool:
    """Whether a function computes what O1 ran in float32, of what may be a half result."""
    if not pattern.search(body):
        return False
    known = wide(body, parameters)
    return any(
        found.group(1) not in _NO_TENSORS
        and _may_be_half(line, found.start() if found.group(1) is None else found.end(1))
        and not (of_wide(line[found.end() :], known) if found.group(1) is None else found.group(1) in known)
        for line in body.splitlines()
        for found in pattern.finditer(line)
    )


def _computing(
    functions: Iterable[_Function],
    classes: Iterable[_Class],
    plain: Collection[str],
    known: frozenset[str],
    itself: Callable[[_Function], bool],
) -> Iterator[str]:
    """Functions, and methods that no forward of their object runs, that compute something themselves, or by what is
    ``known`` to."""
    for one in functions:
        if itself(one) or any(called in known for called in one.called):
            yield one.name
    for cls in classes:
        inner = {called for method in cls.methods.values() for called in method.called}
        for name, method in cls.methods.items():
            if cls.name not in plain and (f"self.{name}" in inner or name in ("forward", "__call__")):
                continue
            own = {f"self.{other.partition('.')[2]}" for other in known if other.partition(".")[0] == cls.name}
            if itself(method) or any(called in known or called in own for called in method.called):
                yield f"{cls.name}.{name}"


def _applying(functions: Iterable[_Function]) -> dict[str, frozenset[tuple[int, str]]]:
    """Functions that run parameters of theirs, or may hand them on to one that does. What they are called does not
    matter where they run one themselves: ``create_embeddings(model, data)``."""
    found = {one.name: own for one in functions if (own := _applied(one))}
    others = [one for one in functions if not one.builds]
    onward = _all(lambda more: (one.name for one in others if _runs(one, frozenset(), {*found, *more})))
    for one in functions:
        if one.name in onward and one.name not in found:
            found[one.name] = frozenset(enumerate(one.parameters))
    return found


def _applied(function: _Function) -> frozenset[tuple[int, str]]:
    others = ((n, name) for n, name in enumerate(function.parameters) if name != "self")
    return frozenset((n, name) for n, name in others if _runs(function, frozenset({name}), ()))


def _made(function: _Function, networks: Collection[str], layers: bool = True) -> frozenset[str]:
    """The names of a function that hold a network which it makes."""
    return frozenset(name for name, maker in (*function.given, *function.filled) if makes(maker, networks, layers))


def _held(cls: _Class, networks: frozenset[str], plain: Collection[str]) -> frozenset[str]:
    """The attributes of a class that hold a network, as its methods spell them."""
    found: set[str] = set()
    for name, maker in {pair for method in cls.methods.values() for pair in method.given}:
        _, own, attribute = name.rpartition("self.")
        made = maker.split(".")[-1]
        if own and attribute not in cls.methods and made not in plain:
            if made in networks or NETWORK_MADE.fit(attribute.lstrip("_")):
                found.add(name)
    return frozenset(found)


def _runs(function: _Function, held: frozenset[str], known: Collection[str]) -> bool:
    """Whether a function runs what it holds, or calls what is known to, and a region may be around it."""
    if function.apart:
        return False
    if any(called in known for called in function.called - {function.name}):
        return True
    for new, old in function.each:
        held |= new if old & held else frozenset()
    for called in function.called if held else ():
        owner, _, last = called.rpartition(".")
        method = FORWARDING.fit(last) or GENERATING.fit(last)
        run = called if called in held else owner if owner in held and method else ""
        text = last == "encode" and owner in function.parameters and not NETWORK_MADE.fit(run)  # of a string
        if run and not text and not _other(run):
            return True
    return False
