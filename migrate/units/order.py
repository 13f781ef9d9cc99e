"""What runs before mixed precision is switched on: an evaluation of the untrained model, an epoch of warm-up.

Before ``amp.initialize`` nothing is cast. A call whose function runs before and after it cannot say by
where it stands which of both it is; the callers can.
"""

from __future__ import annotations

import ast
from functools import cached_property

from ..facts.scopes import Scope
from ..nodes import chain
from .references import handed_to
from .unit import Context, Unit

NOT_YET, ON = False, True


class Order:
    """Says of code whether ``initialize`` was called on the way to it, as far as the order of statements tells."""

    def __init__(self, ctx: Context, unit: Unit) -> None:
        self.ctx = ctx
        self._sites: dict[ast.AST, list[ast.AST]] = {}  # function -> initialize calls, and calls that run one
        self._entered: dict[tuple[ast.AST, bool], frozenset[bool]] = {}
        self._begin = [i.call for i in unit.initializes]
        todo: list[ast.AST] = [*self._begin]
        while todo:
            site = todo.pop()
            function = ctx.m.function(site).node
            known = self._sites.setdefault(function, [])
            if site in known:
                continue
            known.append(site)
            todo += ctx.v.calls.get(function, ())

    def states(self, node: ast.AST) -> frozenset[bool]:
        """`NOT_YET`, `ON` or both."""
        return self._states(node, arms=True)

    def early(self, node: ast.AST) -> bool:
        """Whether ``node`` may run above an ``initialize`` that will run: not only in the other arm of its guard."""
        return NOT_YET in self._states(node, arms=False)

    def switches(self, function: ast.AST) -> bool:
        """Whether a function calls ``initialize``, itself or in what it calls."""
        return function in self._sites

    def calls(self, function: ast.AST) -> list[ast.AST]:
        """The calls in a function that run ``initialize``, in it or further down."""
        return list(self._sites.get(function, ()))

    def _states(self, node: ast.AST, arms: bool) -> frozenset[bool]:
        scope = self.ctx.m.function(node)
        sites = [s for s in self._sites.get(scope.node, ()) if s is not node]
        if not sites:
            return frozenset({NOT_YET}) if self.ctx.m.idle(node) else self._at_entry(scope, arms)
        found = [self._beside(node, site, arms) for site in sites]
        if any(one == {ON} for one in found):
            return frozenset({ON})
        return frozenset().union(*found)

    def _of_call(self, scope: Scope, call: ast.AST, arms: bool) -> frozenset[bool]:
        """The same at the call of a function."""
        chosen = scope.node not in self._sites and call in self._sites.get(self.ctx.m.function(call).node, ())
        return self._of_choice(call, arms) if chosen else self._states(call, arms)

    def _of_choice(self, call: ast.AST, arms: bool, met: frozenset[ast.AST] = frozenset()) -> frozenset[bool]:
        """The same of a call that runs ``initialize``, for what else it may run instead: ``args.func(args)``."""
        scope = self.ctx.m.function(call)
        if len(self._sites.get(scope.node, ())) > 1:
            return self._states(call, arms)
        if self.ctx.m.loops(call):
            return frozenset({NOT_YET, ON})
        if isinstance(scope.node, ast.Module):
            return frozenset({NOT_YET})
        calls = [] if scope.node in met else self.ctx.v.calls.get(scope.node, ())
        calls = [one for one in calls if not self.ctx.m.idle(one)] or calls
        found = (self._of_choice(one, arms, met | {scope.node}) for one in calls)
        return frozenset(state for states in found for state in states) or frozenset({ON})

    def _at_entry(self, scope: Scope, arms: bool) -> frozenset[bool]:
        key = (scope.node, arms)
        if key not in self._entered:
            self._entered[key] = frozenset()  # recursion
            every = self.ctx.v.calls.get(scope.node, ()) if scope.is_function else ()
            calls = [call for call in every if not self.ctx.m.idle(call)] or every
            states = frozenset(s for call in calls for s in self._of_call(scope, call, arms))
            never = isinstance(scope.node, ast.Module) and self._runs_elsewhere(scope.node)
            self._entered[key] = states if calls else frozenset({NOT_YET if never else ON})
        return self._entered[key]

    def _runs_elsewhere(self, module: ast.AST) -> bool:
        """Whether no run that comes to a file's own code runs ``initialize``: all ways to it begin in other scripts, or
        in the main block of a file that is imported there."""
        m = self.ctx.m
        if len(m.files) == 1 or not self._sites:  # a class that scales by itself initializes nothing
            return False
        file, begin = m.file(module), {m.file(call) for call in self._begin}
        runs = [root for root in m.roots if root is file or file in m.reached(root)]
        if runs and all(begin.isdisjoint((root, *m.reached(root))) for root in runs):
            return True  # a demonstration, which never sees a file that initializes
        tops = self._tops
        return tops is not None and bool(runs) and not any(
            m.file(top) is root or (m.file(top) in m.reached(root) and not m.idle(top)) for root in runs for top in tops
        )

    @cached_property
    def _tops(self) -> list[ast.AST] | None:
        """Where, outside of all functions, the ways to ``initialize`` begin; None where one may not be known, as for
        methods where some are called by computed names. What nothing in the program calls leads nowhere."""
        m, v, ctx = self.ctx.m, self.ctx.v, self.ctx
        tops: list[ast.AST] = []
        met: set[ast.AST] = set()
        todo: list[ast.AST] = [site for sites in self._sites.values() for site in sites]
        while todo:
            site = todo.pop()
            function = m.function(site).node
            if isinstance(function, ast.Module):
                tops.append(site)
            elif function not in met:
                met.add(function)
                handed = handed_to(ctx, function) if function in ctx.handed_out else []
                if function in ctx.handed_out and m.parent.get(ctx.handed_out[function]) not in handed:
                    return None
                ways = [*v.calls.get(function, ()), *handed]
                method = m.class_of(m.scope_of[function]) is not None
                if ctx.exported(function) & {getattr(function, "name", ""), "*"} or (method and not self._spelled):
                    return None
                todo += ways
        return tops

    @cached_property
    def _spelled(self) -> bool:
        """Whether all methods that the program takes by name are spelled there; what is imported has none of the
        program's (``getattr(config, args.model)()``)."""
        return not any(
            len(c.args) > 1 and not isinstance(c.args[1], ast.Constant) and not self._imported(c.args[0])
            for c in self.ctx.m.calls("getattr")
        )

    def _imported(self, value: ast.expr) -> bool:
        """Whether a value is a module, or what a package that is not here gives."""
        m = self.ctx.m
        if held := self.ctx.v.of(value):
            return all(obj.kind == "module" for obj in held)
        *_, root = chain(value)
        if not isinstance(root, ast.Name) or (home := m.binding_scope(root.id, m.scope(root))) is None:
            return False
        made = [n for n in m.declared(root.id) if m.binding_scope(root.id, m.scope(m.statement(n))) is home]
        assigned = root.id in home.params or m.bindings(root.id, home)
        return bool(made) and not assigned and all(isinstance(node, ast.alias) for node in made)

    def _beside(self, node: ast.AST, site: ast.AST, arms: bool) -> frozenset[bool]:
        """The same for one function and one of its sites."""
        m = self.ctx.m
        apart = self._arms_apart(node, site)
        if apart is not None and not arms:
            return frozenset({ON})
        handed = isinstance(node, ast.Call) and m.inside(site, node)  # what a call is handed runs ahead of it
        if m.start(site) > m.start(node) and not handed:
            again = set(m.loops(node)) & set(m.loops(site))
            return frozenset({NOT_YET, ON}) if again else frozenset({NOT_YET})
        if apart is None:
            return frozenset({ON})
        return frozenset({NOT_YET, ON}) if m.loops(apart) else frozenset({NOT_YET})

    def _arms_apart(self, node: ast.AST, site: ast.AST) -> ast.If | None:
        """The ``if`` in whose one arm ``node`` stands, and ``site`` in the other."""
        parting = self.ctx.m.parting(node, site)
        return parting if isinstance(parting, ast.If) else None
