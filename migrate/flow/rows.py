"""Rows that are put under names: ``dict(zip(names, nets))``, and lists that take the items of a dictionary by name."""

from __future__ import annotations

import ast

from ..facts.names import called_name
from .containers import Containers
from .objects import ELEMENT_KEY, Obj, Var
from .spelled import strings_in_row

_WRITTEN = (ast.List, ast.Tuple, ast.ListComp, ast.GeneratorExp)


class Rows(Containers):
    """Points-to sets with what is paired by its place in a row."""

    def item(self, table: Obj, key: str) -> frozenset[Obj]:
        """What a dictionary may hold under a key."""
        return self.field(table, self._text_key(key)) | self.field(table, ELEMENT_KEY)

    def _comprehended_row(self, node: ast.ListComp | ast.GeneratorExp, var: Var) -> None:
        """``[f(x) for x in xs]``; of ``[nets[n] for n in names]``, where the names are written, it is known which item
        is which."""
        for gen in node.generators:
            self._iterate(gen.target, gen.iter)
        whole = Obj("seq", node, "list")
        match node.generators, node.elt:
            case [ast.comprehension(target=ast.Name(id=one), ifs=[], iter=names)], ast.Subscript(
                value=table, slice=ast.Name(id=at)
            ) if one == at and (texts := strings_in_row(self.m, names)) is not None:
                self._expr(node.elt)
                for number, text in enumerate(texts):
                    self._load(self._expr(table), self._text_key(text), self._field(whole, str(number)))
            case _:
                self._flow(self._expr(node.elt), self._field(whole, ELEMENT_KEY))
        self._add(var, whole)

    def _zipped(self, node: ast.expr, zipped: ast.expr, var: Var) -> bool:
        """A dictionary of names and values that are zipped; False where something else is."""
        match zipped:
            case ast.Call(func=ast.Name(id="zip"), args=[names, values], keywords=[]) if not any(
                isinstance(one, ast.Starred) for one in (names, values)
            ):
                pass
            case _:
                return False
        whole, row = Obj("dict", node, "dict"), self._expr(values)
        texts = strings_in_row(self.m, names)
        if texts is not None:
            for number, text in enumerate(texts):
                self._at_place(row, number, self._field(whole, self._text_key(text)))
        else:
            self._expr(names)
            self._elements(row, self._field(whole, ELEMENT_KEY))
        self._add(var, whole)
        return True

    def _reordered(self, node: ast.Call, obj: Obj, var: Var) -> None:
        """``reversed(row)``, ``sorted(row)``: of a row that is written out another, of which any item may be any."""
        if obj.kind != "seq" or not isinstance(obj.key, _WRITTEN):
            self._add(var, obj)
            return
        other = Obj("seq", (node, obj), "list")
        self._each_field(obj, lambda name: self._flow(("f", obj, name), self._field(other, ELEMENT_KEY)))
        self._add(var, other)

    def _at_place(self, row: Var, number: int, dst: Var) -> None:
        """What stands at a place of a row: of a list that is written out by its number, else any item."""

        def of_obj(obj: Obj) -> None:
            starred = any(isinstance(one, ast.Starred) for one in getattr(obj.key, "elts", ()))
            if obj.kind == "seq" and isinstance(obj.key, _WRITTEN) and not starred:
                self._flow(("f", obj, str(number)), dst)
                self._flow(("f", obj, ELEMENT_KEY), dst)
            else:
                single: Var = ("one of", dst, obj)
                self._add(single, obj)
                self._elements(single, dst)

        self._each(row, of_obj)

    def _text_key(self, text: str) -> str:
        return self._key(ast.Constant(text))


def pairs_of(node: ast.DictComp) -> ast.expr | None:
    """The pairs that a comprehension takes over as they are: ``{n: x for n, x in zip(names, xs)}``."""
    match node:
        case ast.DictComp(
            key=ast.Name(id=key),
            value=ast.Name(id=value),
            generators=[
                ast.comprehension(
                    target=ast.Tuple(elts=[ast.Name(id=k), ast.Name(id=v)]), iter=ast.Call() as pairs, ifs=[]
                )
            ],
        ) if (key, value) == (k, v) and called_name(pairs) == "zip":
            return pairs
        case _:
            return None
