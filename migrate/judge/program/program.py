"""One of the two programs, as the judge sees it: the rooms beside this one, filled in their order."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from ...facts.files import File
from ...facts.module import Module
from ...facts.names import makes_context
from ...facts.sites import Facts
from ...flow.values import Values
from ...nodes import walk
from ..code import Code
from ..compiler import compile_body
from ..origin import Origin
from .callees import Callees
from .classify import Classifier
from .counting import asked_ahead, counters, last_rounds
from .definitions import Definitions
from .entries import Entries
from .evaluation import Evaluation, find_asides
from .failing import Failing
from .gradients import Gradients
from .lasting import Lasting
from .marks import Marks
from .mattering import Mattering
from .naming import Naming
from .objects import Objects, known_objects
from .preparing import begins_some, preparing
from .scaling import Scaling
from .spread import Spread
from .syntax import ANY, ANY_OF_FILES, FUNCTIONS, generator_call, last_name, maps, reads_to_the_end
from .tree import AnnotatedTree


class Program:
    """A program; ``old`` is None for the old one. It answers the compiler's questions (`compiler.Sight`)."""

    def __init__(self, m: Module, v: Values, naming: Naming, objects: Objects, old: Program | None) -> None:
        self.m, self.v, self.naming, self.objects, self._old = m, v, naming, objects, old
        self.marks = Marks()
        self.callees = Callees(m, v, self.marks)
        self.scaling = Scaling(m, v, objects, self.marks)
        self.evaluation = Evaluation(m, self.marks, self.callees)
        self.definitions = Definitions(m, v, naming, self.marks)
        tree = AnnotatedTree(m, v, naming, self.marks, self.callees, self.scaling)
        self.entries: Entries = Entries(tree, old.entries if old is not None else None)
        self.lasting = Lasting(tree, self.entries, self.definitions)
        self.mattering = Mattering(tree, self.entries)
        self.failing = Failing(tree)
        self._classifier = Classifier(
            m, v, objects, self.scaling, self.callees, old.marks.kind if old is not None else {}
        )
        self._spread = Spread(tree, objects.switched)
        self._codes: dict[ast.AST, Code] = {}
        self._changed: dict[ast.AST, frozenset[str]] = {}
        self._changed_in_files: dict[ast.AST, frozenset[str]] = {}
        self._begun: dict[File, ast.Module] = {}
        self._begins: dict[ast.AST, bool] = {}
        self._sets: dict[ast.AST, bool] = {}
        self._makes: dict[ast.AST, bool] = {}
        self._counters: dict[ast.AST, frozenset[str]] = {}
        self.last_rounds = last_rounds(m)
        self.counted = frozenset(loop for loop, _ in self.last_rounds.values())
        self._find_kinds()
        Gradients(m, v, objects, self.marks, self.callees, old.marks if old is not None else None).find()
        if old is None:
            self._spread.outwards()
        else:
            self._follow_as(old)

    @classmethod
    def legacy(
        cls,
        m: Module,
        v: Values,
        facts: Facts,
        switched: frozenset[str] = frozenset(),
        stops: frozenset[ast.If] = frozenset(),
    ) -> Program:
        """The old program; ``switched`` are attributes that choose one of two backends of it, ``stops`` conditions
        whose first arm uses Apex, and may stop in the new one."""
        naming = Naming(m, v)
        apex = (node for node in stops if any(one in facts.uses for stmt in node.body for one in walk(stmt)))
        places = frozenset(map(naming.place, apex))
        return cls(m, v, naming, replace(known_objects(m, v, naming, facts), switched=switched, stops=places), None)

    @classmethod
    def migrated(cls, m: Module, old: Program, origin: Origin) -> Program:
        """The new program. What the two have to do alike is marked in both: they go together from here on."""
        v = Values(m)
        naming = Naming(m, v, old.m, origin)
        naming.alike = old.naming.alike
        return cls(m, v, naming, replace(old.objects, naming=naming, scales={}), old)

    # ------------------------------------------------------------ what has a part in training

    def kind_of(self, call: ast.Call) -> str:
        """What a call is to training; empty where it is nothing."""
        return self._classifier.kind(call)

    def _find_kinds(self) -> None:
        kind = self.marks.kind
        for node in self.m.of(ast.Call, ast.Attribute):
            if isinstance(node, ast.Call):
                found = self.kind_of(node)
                if found:
                    kind[node] = found
            elif isinstance(node, ast.Attribute) and node.attr == "_loss_scale" and self.scaling.of_loss_scaler(node):
                if isinstance(node.ctx, ast.Load):
                    kind[node] = "scale"

    def _follow_as(self, old: Program) -> None:
        """Functions that have a part in training in either program are followed in both, and so are loops, and what
        is raised: the one waits for the other there, or ends where it does."""
        twin = self.naming.twin
        files = zip(self.m.files, old.m.files, strict=True)  # of which no text says which is which
        followed = {new.scope.node for new, was in files if was.scope.node in old.marks.functions}
        self._spread.outwards(followed | {n for n in self.m.scope_of if twin(n) in old.marks.functions})
        sources = {source for n in self.marks.functions if (source := twin(n)) is not None} - old.marks.functions
        if sources:
            old._spread.outwards(sources)
        for node in self.m.of(ast.For, ast.AsyncFor, ast.While, ast.Raise):
            source = twin(node)
            if source is None or type(source) is not type(node):
                continue
            if node in self.marks.relevant and source not in old.marks.relevant:
                old._spread.mark(source)
            elif source in old.marks.relevant and node not in self.marks.relevant:
                self._spread.mark(node)
        for stop in self.stops:
            self._spread.mark(stop)
        find_asides(old.evaluation, self.evaluation, twin)

    @cached_property
    def _preparing(self) -> frozenset[ast.AST]:
        """The loops of the old program that only initialize; known when all calls are that matter."""
        return preparing(self.m, self.marks) if self._old is None else self._twins_of(self._old._preparing)

    @cached_property
    def stops(self) -> frozenset[ast.Raise]:
        """Where the new program stops a run that chose Apex: it raises, and does nothing else, in Apex's arm."""
        if self._old is None:
            return frozenset()
        arms = (node for node in self.m.all(ast.If) if self.naming.place(node) in self.objects.stops)
        return frozenset(node.body[0] for node in arms if isinstance(node.body[0], ast.Raise))

    def _twins_of(self, nodes: frozenset[ast.AST]) -> frozenset[ast.AST]:
        kinds = {type(node) for node in nodes}
        return frozenset(n for kind in kinds for n in self.m.all(kind) if self.naming.twin(n) in nodes)

    def counters(self, loop: ast.AST) -> frozenset[str]:
        """The names and attributes to which a round of a loop may add a number, itself or in functions that it runs."""
        if loop not in self._counters:
            found = counters(loop, self.marks, self.callees) if self._asked_ahead else frozenset[str]()
            self._counters[loop] = found & self._asked_ahead
        return self._counters[loop]

    def counts(self, target: ast.expr) -> bool:
        """Whether it may be asked of what is counted what it will be, one round ahead."""
        return last_name(target) in self._asked_ahead

    @cached_property
    def _asked_ahead(self) -> frozenset[str]:
        return asked_ahead(self.m) if self._old is None else self._old._asked_ahead

    def begins_some(self, loop: ast.AST) -> bool:
        """Whether each round of a loop makes something that initializes, and nothing else."""
        if loop not in self._begins:
            self._begins[loop] = begins_some(loop, self.marks, self.callees)
        return self._begins[loop]

    # ------------------------------------------------------------ what the compiler asks

    def code(self, function: ast.AST) -> Code:
        if function not in self._codes:
            body = function.body if isinstance(function, (*FUNCTIONS, ast.Module)) else []
            self._codes[function] = compile_body(self, function, body)
        return self._codes[function]

    def begun(self, root: File) -> ast.Module:
        """The statements of a file, behind those of all files that it imports."""
        if len(self.m.files) == 1:
            return self.m.tree
        if root not in self._begun:
            body = [stmt for file in self.m.reached(root) for stmt in file.tree.body]
            self._begun[root] = ast.Module(body, [])
        return self._begun[root]

    def relevant(self, stmt: ast.stmt) -> bool:
        return stmt in self.marks.relevant and not isinstance(stmt, (ast.Import, ast.ImportFrom))

    def calls(self, expr: ast.AST) -> bool:
        return expr in self.marks.relevant

    def prepares(self, loop: ast.AST) -> bool:
        """Whether a loop only initializes, in the old program: all its rounds do what one does."""
        return loop in self._preparing

    def changes(self, node: ast.AST) -> bool:
        """Whether code that is not followed may change what is asked for, when a piece of code runs."""
        return bool(self.changed(node))

    def changed(self, node: ast.AST) -> frozenset[str]:
        """The names of what it may change."""
        if node not in self._changed:
            found = self.callees.changed(node)
            self._changed[node] = self.mattering.names if ANY in found else found & self.mattering.names
        return self._changed[node]

    def changed_in_files(self, node: ast.AST) -> frozenset[str]:
        """Those of them that may be names of files."""
        if node not in self._changed_in_files:
            found = self.callees.changed(node)
            self._changed_in_files[node] = self.changed(node) if ANY_OF_FILES in found else found
        return self._changed_in_files[node]

    def event(self, node: ast.expr) -> bool:
        return bool(self.marks.kind.get(node))

    def sets_what_decides(self, function: ast.AST) -> bool:
        """Whether a function, or one that it runs, sets what conditions of mixed precision hang on."""
        if function not in self._sets:
            self._sets[function] = False  # recursion
            own = self.callees.changing.get(function, set())
            deciding = self.mattering.those_behind(self.mattering.deciding)
            inner = (callee for call in self.callees.calls_in[function] for callee in self.callees.runs(call))
            self._sets[function] = not deciding.isdisjoint(own) or any(map(self.sets_what_decides, inner))
        return self._sets[function]

    @cached_property
    def objects_asked(self) -> frozenset[str]:
        """Names in conditions that may hold a model or an optimizer: what is not kept of them is taken to be one. And
        those by which one of several optimizers is chosen: ``self.optimizers[name]``."""
        asking = (node for test in self.mattering.tests for node in walk(test))
        held = [node for node in asking if isinstance(node, (ast.Name, ast.Attribute)) and self.objects.known(node)]
        for node in self.m.all(ast.Subscript):
            if isinstance(node.slice, ast.Name) and len(self.naming.keys(node) & self.objects.optimizers) > 1:
                held.append(node.slice)
        return frozenset(node.id if isinstance(node, ast.Name) else node.attr for node in held)

    def makes_scaler(self, node: ast.AST) -> bool:
        """Whether a function or class makes a GradScaler, in its own text."""
        if node not in self._makes:
            self._makes[node] = any(self.marks.kind.get(one) == "create" for one in walk(node))
        return self._makes[node]

    def context(self, item: ast.withitem) -> bool:
        return self.scaling.context(item)

    def reads(self, stmt: ast.stmt) -> bool:
        return stmt in self.marks.readers

    def reads_before(self, stmt: ast.stmt) -> bool:
        """Whether a statement reads gradients ahead of what it calls as well: its decorator does."""
        return stmt in self.marks.around

    def reads_where_raised(self, stmt: ast.stmt) -> bool:
        """Whether gradients are read where an exception leaves what a statement calls: by its decorator."""
        return stmt in self.marks.guarded

    def reads_at_end(self, stmt: ast.stmt) -> bool:
        """Whether gradients are read as a block is left."""
        return stmt in self.marks.ends

    def reads_each_round(self, loop: ast.For | ast.AsyncFor) -> bool:
        """Whether gradients are read from one round of a loop to the next, by what is not followed there."""
        return loop in self.marks.rounds and not self.resumes(loop.iter)

    def may_fail(self, node: ast.AST) -> bool:
        """Whether a piece of code may raise where somebody looks at gradients on the way out."""
        return self.failing.may_fail(node)

    def next_may_fail(self, loop: ast.For | ast.AsyncFor) -> bool:
        """Whether what hands a loop its items may."""
        return self.failing.next_may_fail(loop)

    def looks(self, body: Sequence[ast.AST]) -> bool:
        """Whether gradients are read in a piece of code, or in functions that it runs."""
        return self.failing.looks(body)

    def clears(self, stmt: ast.stmt) -> bool:
        return stmt in self.marks.clearers

    def aside(self, stmt: ast.stmt) -> bool:
        """Whether nothing hangs on a condition but that models are evaluated, in both programs."""
        return stmt in self.evaluation.asides

    def only_reads(self, stmt: ast.stmt) -> bool:
        return self.evaluation.only_reads(stmt)

    def reading(self, stmt: ast.stmt) -> tuple[bool, bool]:
        return self.evaluation.reading(stmt)

    def resumes(self, expr: ast.expr) -> bool:
        """Whether a loop runs over a generator of this program that has a part in training. One that only hands on
        what others yield has none of its own."""
        call = generator_call(expr)
        made = [c for c in self.v.callees(call) if c in self.marks.functions] if call is not None else []
        return any(self.code(c).generator and not self._hands_on(c) for c in made)

    def exhausts(self, call: ast.Call) -> bool:
        """Whether a call goes through such a generator to its end before it comes back: ``list(train(…))``."""
        return reads_to_the_end(call) and len(call.args) > 0 and self.resumes(call.args[0])

    def _hands_on(self, function: ast.AST) -> bool:
        """Whether a function that does not train yields what another generator does: ``yield from``."""
        return any(isinstance(n, ast.YieldFrom) for n in walk(function)) and not self.entries.trains(function)

    def manages(self, item: ast.withitem) -> bool:
        """Whether a block is one of a context manager that is a generator here and has a part in training."""
        call = item.context_expr
        return isinstance(call, ast.Call) and any(
            c in self.marks.functions and makes_context(c) and self.code(c).generator for c in self.v.callees(call)
        )

    def maps(self, call: ast.Call) -> bool:
        """Whether a call runs a function that trains item by item."""
        return maps(self.m, call) and self.trains(call)

    def trains(self, expr: ast.expr) -> bool:
        """Whether functions of the old program that train are called in an expression."""
        if self._old is not None:
            source = self.naming.twin(expr)
            return isinstance(source, ast.expr) and self._old.trains(source)
        called = [n for n in walk(expr) if self.marks.kind.get(n) == "call"]
        return any(self.entries.trains(f) for n in called for f in self.callees.runs(n))
