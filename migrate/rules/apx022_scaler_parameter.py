"""The scaler goes where the optimizer goes.

A function that is handed the optimizer is handed the scaler behind it, and so are its calls in the
file. An object that keeps the optimizer it is made with keeps the scaler beside it, where it cannot
make one of its own. Nothing is created twice: a second scaler would lose the loss scale that the first has found.
A function of a package that others have takes it last, and their calls work as before where they ask for no mixed
precision.

Source: torch docs, "Automatic Mixed Precision examples": one scaler for the convergence run.
"""

from __future__ import annotations

import ast

from ..flow.arguments import default_of
from ..model import Severity
from ..nodes import constructs
from ..plan.home.places import Outside, Parameter
from ..plan.inserted import behind, call_offset
from .common import Plan, Stage, Work

ID = "APX022"
STAGE = Stage.UNIT
BEFORE = """\
def train(model, optimizer, loader):
    ...

train(model, optimizer, loader)
"""
AFTER = """\
def train(model, optimizer, scaler, loader):
    ...

train(model, optimizer, scaler, loader)
"""
NOTES = {"APX023": "What nothing in the program calls is handed the scaler by whoever calls it."}


def apply(plan: Plan, work: Work) -> None:
    """Add the parameters and hand the scaler on."""
    if not plan.scaled:
        return
    for parameter in plan.homes.parameters:
        taken = work.handed.setdefault((parameter.function.node, parameter.name), parameter)
        if taken is parameter:  # else it is the scaler that another unit has as well
            _define(plan, work, parameter)
        for call, text in parameter.calls.items():
            if (call, parameter.name) in work.given:
                continue
            work.given.add((call, parameter.name))
            offset, written = call_offset(plan.ctx, call, parameter.function, taken.behind, parameter.name, text)
            work.draft.insert_at(offset, written)
            work.note(plan.unit.number, ID, work.m.statement(call), "the scaler is handed on beside the optimizer")
    for stmt, text in plan.homes.kept:
        work.draft.after(stmt, text)
        work.note(plan.unit.number, ID, stmt, "the scaler is kept beside the optimizer")


def _define(plan: Plan, work: Work, parameter: Parameter) -> None:
    node = parameter.function.node
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    m = work.m
    args = node.args
    positional = [*args.posonlyargs, *args.args]
    defaults = dict(
        zip([p.arg for p in positional][len(positional) - len(args.defaults) :], args.defaults, strict=True)
    )
    if isinstance(node, ast.Lambda):
        work.note(plan.unit.number, ID, m.statement(node), "the lambda takes the scaler beside the optimizer")
    else:
        work.note_header(plan.unit.number, ID, node, f"{node.name}() takes the scaler beside the optimizer")
    if parameter.outside is not None:
        _define_last(plan, work, parameter, parameter.outside)
        return
    several = [args.vararg] if args.vararg is not None else []
    found = next((p for p in (*positional, *several, *args.kwonlyargs) if p.arg == parameter.after), None)
    if found is None:
        if not positional:
            offset = m.text.index("(", m.offset(node.lineno, node.col_offset)) + 1
            work.draft.insert_at(offset, parameter.name + (", " if _takes_more(args) else ""))
            return
        found = positional[-1]
        if args.defaults:  # every call hands it on by its name: nobody need do without
            last = [*several, *args.kwonlyargs, *(d for d in args.kw_defaults if d is not None)]
            at = max(map(m.end, last), default=m.end(args.defaults[-1]))
            work.draft.insert_at(at, f", {parameter.name}" if last else f", *, {parameter.name}")
            return
    default = defaults.get(found.arg)
    if found in args.kwonlyargs:
        default = args.kw_defaults[args.kwonlyargs.index(found)]
    end = m.end(default) if default is not None else m.end(found)
    text = parameter.name + ("=None" if default is not None else "")
    work.draft.insert_at(*behind(m, m.start(found), end, text))


def _define_last(plan: Plan, work: Work, parameter: Parameter, outside: Outside) -> None:
    """The last parameter of a function that is called from outside of the tree, too, and what it does without."""
    m, node, name = work.m, parameter.function.node, parameter.name
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    args = node.args
    several = [args.vararg] if args.vararg is not None else []
    text = name if outside.required else f"{name}=None"
    if outside.required and not several and not args.kwonlyargs:
        text = f"*, {text}"
    every = [*args.posonlyargs, *args.args, *several, *args.kwonlyargs]
    if every:
        default = default_of(node, every[-1].arg)
        end = m.end(default) if default is not None else m.end(every[-1])
        work.draft.insert_at(*behind(m, m.start(every[-1]), end, text))
    else:
        offset = m.text.index("(", m.offset(node.lineno, node.col_offset)) + 1
        work.draft.insert_at(offset, text + (", " if args.kwarg else ""))
    if outside.required:
        return
    lines = [f"if {name} is None:"]
    if outside.asked:
        cls = m.class_of(parameter.function)
        called = cls.name if cls is not None and constructs(node) else node.name
        lines += [
            f"\tif {outside.asked}:",
            f'\t\traise ValueError("{called}() takes a torch.amp.GradScaler for mixed precision: {name}=...")',
        ]
        said = f"callers of {called}() outside of this tree hand it the GradScaler for mixed precision ({name}=…)"
        work.find(plan.unit.number, ID, Severity.INFO, node, said)
    work.draft.begin(node, *lines, f"\t{name} = {work.native(node).scaler('enabled=False')}")


def _takes_more(args: ast.arguments) -> bool:
    return bool(args.vararg or args.kwonlyargs or args.kwarg)
