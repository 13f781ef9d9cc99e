"""Edits by position: what meets what, and that all else stays byte for byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from migrate.model import DeleteLines, Edit, InsertLines, Reindent, Replace
from migrate.rewrite.apply import EditConflict, apply_edits
from migrate.rewrite.lines import Lines, Untokenizable


def text_of(*lines: str, newline: str = "\n") -> str:
    return "".join(line + newline for line in lines)


def wrap(first: int, last: int, indent: str = "", unit: str = "    ") -> Reindent:
    return Reindent(first, last, indent, indent + unit)


ABC = text_of("a", "b", "c")


# ---------------------------------------------------------------- replacements


def test_replacements_use_offsets_of_the_old_text() -> None:
    assert apply_edits("abcdef", [Replace(4, 5, "EEE"), Replace(1, 2, "")]) == "acdEEEf"


def test_insertions_at_one_offset_keep_their_order() -> None:
    edits: list[Edit] = [Replace(1, 2, "X"), Replace(1, 1, "1"), Replace(1, 1, "2"), Replace(2, 2, "3")]
    assert apply_edits("abc", edits) == "a12X3c"


def test_a_replacement_may_span_lines() -> None:
    assert apply_edits("ab\ncd\nef\n", [Replace(1, 7, "-")]) == "a-f\n"


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_newlines_become_those_of_the_file(newline: str) -> None:
    old = text_of("a", "b", newline=newline)
    edits: list[Edit] = [Replace(0, 1, "x\ny\r\nz"), InsertLines(2, ("i", "j\nk"))]
    assert apply_edits(old, edits) == text_of("x", "y", "z", "i", "j", "k", "b", newline=newline)


def test_mixed_newlines_stay_where_they_were() -> None:
    assert apply_edits("a\r\nb\nc\r\n", [InsertLines(2, ("i",))]) == "a\r\ni\r\nb\nc\r\n"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Replace(0, 2, ""), Replace(1, 3, "")),
        (Replace(0, 2, "x"), Replace(0, 2, "x")),
        (Replace(0, 2, ""), Replace(1, 1, "x")),
    ],
)
def test_overlapping_replacements_conflict(one: Replace, other: Replace) -> None:
    with pytest.raises(EditConflict) as caught:
        apply_edits("abcd", [other, one])
    assert {caught.value.first, caught.value.second} == {one, other}


@pytest.mark.parametrize(
    "edit",
    [
        Replace(0, 9, ""),
        Replace(3, 2, ""),
        Replace(-1, 2, ""),
        DeleteLines(0, 1),
        DeleteLines(2, 1),
        DeleteLines(1, 4),
        Reindent(1, 4, "", " "),
        InsertLines(0, ("x",)),
        InsertLines(5, ("x",)),
    ],
)
def test_edits_outside_of_the_text_are_refused(edit: Edit) -> None:
    with pytest.raises(ValueError, match="outside"):
        apply_edits(ABC, [edit])


# ---------------------------------------------------------------- deletions


def test_lines_are_deleted_whole() -> None:
    assert apply_edits("a\r\n  b  # c\r\nd\r\n", [DeleteLines(2, 2)]) == "a\r\nd\r\n"


def test_deletion_wins_over_what_is_inside() -> None:
    edits: list[Edit] = [Replace(2, 3, "X"), Replace(2, 2, "Y"), InsertLines(3, ("i",)), DeleteLines(2, 3)]
    assert apply_edits(ABC, edits) == "a\n"


def test_lines_can_be_inserted_at_the_edges_of_a_deletion() -> None:
    edits: list[Edit] = [DeleteLines(2, 2), InsertLines(2, ("before",)), InsertLines(3, ("after",))]
    assert apply_edits(ABC, edits) == text_of("a", "before", "after", "c")


def test_deletions_may_meet_and_overlap() -> None:
    assert apply_edits(ABC, [DeleteLines(1, 2), DeleteLines(2, 3)]) == ""
    between: list[Edit] = [DeleteLines(1, 1), DeleteLines(2, 2), InsertLines(2, ("i",))]
    assert apply_edits(ABC, between) == text_of("i", "c")


def test_an_insertion_behind_a_deletion_stays() -> None:
    assert apply_edits(ABC, [DeleteLines(1, 1), Replace(2, 2, "x")]) == text_of("xb", "c")


def test_a_deletion_inside_a_replacement_is_moot() -> None:
    assert apply_edits(ABC, [DeleteLines(2, 2), Replace(0, 5, "x")]) == "x\n"


@pytest.mark.parametrize("replace", [Replace(1, 3, ""), Replace(3, 5, ""), Replace(0, 3, "")])
def test_a_replacement_that_reaches_out_of_a_deletion_conflicts(replace: Replace) -> None:
    with pytest.raises(EditConflict):
        apply_edits(ABC, [DeleteLines(2, 2), replace])


# ---------------------------------------------------------------- the end of the file


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([InsertLines(3, ("c",))], "a\nb\nc"),
        ([InsertLines(3, ("c",)), Replace(3, 3, "!")], "a\nb!\nc"),
        ([DeleteLines(2, 2)], "a"),
        ([DeleteLines(2, 2), InsertLines(3, ("c",))], "a\nc"),
        ([DeleteLines(1, 1)], "b"),
        ([Replace(2, 3, "x\ny\n")], "a\nx\ny"),
        ([DeleteLines(1, 2)], ""),
        ([wrap(2, 2)], "a\n    b"),
        ([DeleteLines(2, 2), Replace(3, 3, "!")], "a"),
    ],
)
def test_no_final_newline_stays_so(edits: list[Edit], expected: str) -> None:
    assert apply_edits("a\nb", edits) == expected


def test_appending_to_an_ended_file_and_to_an_empty_one() -> None:
    assert apply_edits("a\n", [InsertLines(2, ("b",))]) == "a\nb\n"
    assert apply_edits("a\n", [Replace(2, 2, "b\n")]) == "a\nb\n"
    assert apply_edits("", [InsertLines(1, ("b", ""))]) == "b\n\n"


# ---------------------------------------------------------------- indentation


def test_a_block_is_wrapped() -> None:
    old = text_of("for x in y:", "    a = f(x)", "    loss = g(a)", "    h(loss)")
    new = apply_edits(old, [InsertLines(2, ("    with cast():",), inside=False), wrap(2, 3, "    ")])
    assert new == text_of(
        "for x in y:", "    with cast():", "        a = f(x)", "        loss = g(a)", "    h(loss)"
    )


def test_a_block_is_unwrapped() -> None:
    old = text_of("with s() as x:", "    x.backward()", "    if a:", "        b()", "c()")
    new = apply_edits(old, [DeleteLines(1, 1), Reindent(2, 4, "    ", "")])
    assert new == text_of("x.backward()", "if a:", "    b()", "c()")


def test_lines_inside_strings_keep_their_indentation() -> None:
    old = text_of('    a = """', "    text", '    """', "    b = 'x\\", "    y'", "    c = 1")
    assert apply_edits(old, [wrap(1, 6, "    ")]) == text_of(
        '        a = """', "    text", '    """', "        b = 'x\\", "    y'", "        c = 1"
    )


def test_lines_of_an_f_string_keep_their_indentation() -> None:
    old = text_of('    a = f"""', "    {x}", "    {", "    y", '    }"""', "    z")
    assert apply_edits(old, [wrap(1, 6, "    ")]) == text_of(
        '        a = f"""', "    {x}", "    {", "    y", '    }"""', "        z"
    )


def test_margin_comments_blank_lines_and_hanging_brackets_stay() -> None:
    old = text_of(
        "    a(", "  1,", ")", "# margin", "", "   ", "    b \\", "  + 1", "    c \\", "        + 1"
    )
    assert apply_edits(old, [wrap(1, 10, "    ")]) == text_of(
        "        a(",
        "  1,",
        ")",
        "# margin",
        "",
        "   ",
        "        b \\",
        "  + 1",
        "        c \\",
        "            + 1",
    )


def test_tabs() -> None:
    old = text_of("\ta", "\t\tb", "    c")
    assert apply_edits(old, [Reindent(1, 3, "\t", "\t\t")]) == text_of("\t\ta", "\t\t\tb", "    c")
    assert apply_edits(old, [Reindent(1, 3, "\t", "")]) == text_of("a", "\tb", "    c")


def test_crlf_blocks() -> None:
    old = text_of("a", "b", "", newline="\r\n")
    new = apply_edits(old, [wrap(1, 3), InsertLines(1, ("if x:",), inside=False)])
    assert new == text_of("if x:", "    a", "    b", "", newline="\r\n")


def test_inner_reindents_come_first() -> None:
    # the outer one finds its old indentation only once the inner one has taken its own away
    old = text_of("    a", "        b")
    edits: list[Edit] = [Reindent(1, 2, "    ", "\t"), Reindent(2, 2, "        ", "    ")]
    assert apply_edits(old, edits) == text_of("\ta", "\tb")
    assert apply_edits(old, edits[::-1]) == text_of("\ta", "\tb")


def test_equal_reindents_apply_in_given_order() -> None:
    assert apply_edits("a\n", [Reindent(1, 1, "", "1"), Reindent(1, 1, "", "2")]) == "21a\n"


def test_crossing_reindents_conflict() -> None:
    one, other = wrap(1, 2), wrap(2, 3)
    with pytest.raises(EditConflict) as caught:
        apply_edits(ABC, [other, one])
    assert (caught.value.first, caught.value.second) == (one, other)
    assert apply_edits(ABC, [wrap(1, 1), wrap(2, 3), wrap(1, 3)]) == text_of(*("        " + x for x in "abc"))


def test_text_of_a_replacement_is_reindented_like_its_place() -> None:
    old = text_of("    f(a)", "    g()", "h()")
    edits: list[Edit] = [Replace(4, 8, "x = f(\n        a)\n    y(x)"), wrap(1, 2, "    ")]
    assert apply_edits(old, edits) == text_of(
        "        x = f(", "            a)", "        y(x)", "        g()", "h()"
    )


def test_strings_in_a_replacement_stay() -> None:
    edits: list[Edit] = [Replace(4, 5, "x = '''\n    y'''"), wrap(1, 1, "    ")]
    assert apply_edits("    f\n", edits) == text_of("        x = '''", "    y'''")


def test_a_line_behind_a_replacement_is_its_own() -> None:
    old = text_of("    a", "    b", "    c")
    assert apply_edits(old, [Replace(4, 6, "x\n"), wrap(2, 2, "    ")]) == text_of(
        "    x", "        b", "    c"
    )
    assert apply_edits(old, [Replace(4, 10, ""), wrap(1, 1, "    ")]) == text_of("        b", "    c")


def test_indentation_changed_on_the_way_does_not_confuse_strings() -> None:
    old = text_of("if a:", "        x = '''", "        '''", "    y", "z")
    edits: list[Edit] = [DeleteLines(1, 1), Reindent(2, 3, "        ", "")]
    assert apply_edits(old, edits) == text_of("x = '''", "        '''", "    y", "z")


def test_text_without_end_of_string_is_refused_only_where_it_matters() -> None:
    old = text_of("a = '''", "b")
    assert apply_edits(old, [InsertLines(2, ("i",))]) == text_of("a = '''", "i", "b")
    with pytest.raises(Untokenizable):
        apply_edits(old, [wrap(1, 2)])


# ---------------------------------------------------------------- inserted lines and blocks


def test_inserted_lines_keep_their_order() -> None:
    edits: list[Edit] = [
        InsertLines(2, ("1",)),
        InsertLines(2, ("up",), after_previous=True),
        InsertLines(2, ("2", "3")),
        InsertLines(1, ("0",), after_previous=True),
    ]
    assert apply_edits(ABC, edits) == text_of("0", "a", "up", "1", "2", "3", "b", "c")


def test_inserted_lines_belong_to_their_neighbour() -> None:
    edits: list[Edit] = [
        wrap(2, 2),
        InsertLines(2, ("above a",), after_previous=True),
        InsertLines(2, ("in b",)),
        InsertLines(3, ("still b",), after_previous=True),
        InsertLines(3, ("not b",), after_previous=True, inside=False),
        InsertLines(3, ("with c",)),
    ]
    assert apply_edits(ABC, edits) == text_of(
        "a", "above a", "    in b", "    b", "    still b", "not b", "with c", "c"
    )


def test_two_nested_headers_at_one_place() -> None:
    headers: list[Edit] = [
        InsertLines(1, ("outer:",), inside=False),
        InsertLines(1, ("inner:",), inside=False),
    ]
    nested = text_of("outer:", "    inner:", "        a", "    b", "c")
    for blocks in ([wrap(1, 1), wrap(1, 2)], [wrap(1, 2), wrap(1, 1)]):
        assert apply_edits(ABC, [*blocks, *headers]) == nested
    same = text_of("outer:", "    inner:", "        a", "        b", "c")
    assert apply_edits(ABC, [*headers, wrap(1, 2), wrap(1, 2)]) == same


def test_header_inside_an_enclosing_block() -> None:
    old = text_of("if a:", "    b", "    c", "d")
    edits: list[Edit] = [
        Reindent(1, 3, "", "    "),
        InsertLines(1, ("with o:",), inside=False),
        wrap(2, 3, "    "),
        InsertLines(2, ("    with i:",), inside=False),
    ]
    assert apply_edits(old, edits) == text_of(
        "with o:", "    if a:", "        with i:", "            b", "            c", "d"
    )


def test_header_of_a_block_inside_one_that_is_unwrapped() -> None:
    old = text_of("with amp:", "    a", "    b", "c")
    edits: list[Edit] = [
        DeleteLines(1, 1),
        Reindent(2, 3, "    ", ""),
        InsertLines(2, ("    plain",), inside=False),
        InsertLines(2, ("    with cast:",), inside=False),
        wrap(2, 2, "    "),
    ]
    assert apply_edits(old, edits) == text_of("plain", "with cast:", "    a", "b", "c")


def test_header_of_a_block_around_one_that_is_unwrapped() -> None:
    old = text_of("with amp:", "    a", "b", "c")
    edits: list[Edit] = [
        DeleteLines(1, 1),
        Reindent(2, 2, "    ", ""),
        InsertLines(2, ("with cast:",), inside=False),
        wrap(2, 3, ""),
    ]
    assert apply_edits(old, edits) == text_of("with cast:", "    a", "    b", "c")


def test_outside_of_a_block_that_is_unwrapped() -> None:
    edits: list[Edit] = [Reindent(1, 1, "    ", ""), InsertLines(1, ("    x",), inside=False)]
    assert apply_edits("    a\n", edits) == text_of("    x", "a")


def test_two_footers_at_one_place() -> None:
    edits: list[Edit] = [
        wrap(1, 2),
        wrap(2, 2),
        InsertLines(1, ("try:",), inside=False),
        InsertLines(2, ("try:",), inside=False),
        InsertLines(3, ("except: pass",), inside=False, after_previous=True),
        InsertLines(3, ("finally: pass",), inside=False, after_previous=True),
    ]
    assert apply_edits(ABC, edits) == text_of(
        "try:", "    a", "    try:", "        b", "    except: pass", "finally: pass", "c"
    )


def test_strings_in_inserted_lines_stay() -> None:
    edits: list[Edit] = [wrap(1, 1), InsertLines(1, ("x = '''", "y'''"))]
    assert apply_edits(ABC, edits) == text_of("    x = '''", "y'''", "    a", "b", "c")


def test_blank_lines_can_be_inserted() -> None:
    assert apply_edits(ABC, [InsertLines(2, ("", "x")), wrap(1, 3)]) == text_of(
        "    a", "", "    x", "    b", "    c"
    )


def test_lines_inserted_into_replaced_text_conflict() -> None:
    with pytest.raises(EditConflict):
        apply_edits(ABC, [Replace(1, 4, ""), InsertLines(2, ("x",))])
    with pytest.raises(EditConflict):
        apply_edits(ABC, [Replace(1, 2, ""), InsertLines(2, ("x",))])
    assert apply_edits(ABC, [Replace(0, 2, ""), InsertLines(2, ("x",))]) == text_of("x", "b", "c")
    assert apply_edits(ABC, [Replace(0, 4, "y\n"), InsertLines(3, ("x",))]) == text_of("y", "x", "c")


def test_everything_at_once() -> None:
    old = text_of(
        "for x in data:",
        "    out = net(x)",
        "    loss = crit(out)  # keep me",
        "    with amp.scale_loss(loss, opt) as s:",
        "        s.backward()",
        "    opt.step()",
        newline="\r\n",
    )
    lines = Lines(old)
    at = lines.offset(5, 8)
    edits: list[Edit] = [
        InsertLines(2, ("    with cast():",), inside=False),
        wrap(2, 3, "    "),
        DeleteLines(4, 4),
        Reindent(5, 5, "        ", "    "),
        Replace(at, at + 1, "scaler.scale(loss)"),
        Replace(lines.start(6) + 4, lines.content_end(6), "scaler.step(opt)\n    scaler.update()"),
    ]
    assert apply_edits(old, edits) == text_of(
        "for x in data:",
        "    with cast():",
        "        out = net(x)",
        "        loss = crit(out)  # keep me",
        "    scaler.scale(loss).backward()",
        "    scaler.step(opt)",
        "    scaler.update()",
        newline="\r\n",
    )


# ---------------------------------------------------------------- properties

TEXTS = st.text(st.sampled_from("ab \t\n'\\#\x0c\x85\u2028"), max_size=60)
NEWLINES = st.sampled_from(["\n", "\r\n", "\r"])


@given(st.text())
def test_no_edits_change_nothing(text: str) -> None:
    assert apply_edits(text, []) == text
    assert apply_edits(text, [Replace(0, 0, "")]) == text


@given(st.text(st.sampled_from("ab\r\n\x0c\x85")))
def test_a_replacement_by_itself_changes_nothing(text: str) -> None:
    halves = [Replace(0, len(text) // 2, text[: len(text) // 2])] if "\r" not in text else []
    assert apply_edits(text, halves) == text


@given(TEXTS, NEWLINES, st.data())
def test_insertions_keep_every_old_line_in_order(text: str, newline: str, data: st.DataObject) -> None:
    text = text.replace("\n", newline)
    lines = Lines(text)
    places = st.builds(
        InsertLines,
        st.integers(1, lines.count + 1),
        st.tuples(st.just("# new")),
        st.booleans(),
        st.booleans(),
    )
    edits = data.draw(st.lists(places, min_size=1, max_size=5))
    new = apply_edits(text, edits)
    kept = [line for line in Lines(new).contents() if line != "# new"]
    assert kept == lines.contents()
    assert Lines(new).count == lines.count + len(edits)
    if text:
        assert Lines(new).ends_with_newline == lines.ends_with_newline
    assert not text or set(new) <= set(text) | set("# new\n")


@given(TEXTS, st.data())
def test_replacements_are_what_slicing_does(text: str, data: st.DataObject) -> None:
    if not text.endswith("\n"):
        text += "\n"
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text) - 1), max_size=6)))
    ranges = list(zip(cuts[::2], cuts[1::2], strict=False))
    words = data.draw(
        st.lists(st.sampled_from(["", "x", "y\n", "\nz"]), min_size=len(ranges), max_size=len(ranges))
    )
    expected, position = "", 0
    for (start, end), word in zip(ranges, words, strict=True):
        expected += text[position:start] + word
        position = end
    expected += text[position:]
    edits = [Replace(start, end, word) for (start, end), word in zip(ranges, words, strict=True)]
    if len({one.start for one in edits}) == len(edits):
        edits = data.draw(st.permutations(edits))
    assert apply_edits(text, edits) == expected


@given(TEXTS, st.data())
def test_deletions_keep_the_other_lines(text: str, data: st.DataObject) -> None:
    lines = Lines(text)
    gone = data.draw(st.sets(st.integers(1, lines.count))) if lines.count else set()
    new = apply_edits(text, [DeleteLines(one, one) for one in gone])
    expected = "".join(lines.raw(number) for number in range(1, lines.count + 1) if number not in gone)
    assert new == (expected if lines.ends_with_newline or not gone else expected.rstrip("\n"))


@given(st.lists(st.sampled_from(["a", "    b", "", "  c", "\td", "# e"]), min_size=1), st.data())
def test_wrapping_and_unwrapping_is_nothing(rows: list[str], data: st.DataObject) -> None:
    text = text_of(*rows)
    first = data.draw(st.integers(1, len(rows)))
    last = data.draw(st.integers(first, len(rows)))
    inner = data.draw(st.integers(first, last))
    there = apply_edits(text, [wrap(first, last), wrap(inner, last)])
    assert apply_edits(there, [Reindent(first, last, "    ", ""), Reindent(inner, last, "    ", "")]) == text


@given(st.integers(1, 6), st.data())
def test_nested_blocks_get_their_headers(count: int, data: st.DataObject) -> None:
    """Blocks opened anywhere, in any order of the edits, come out as if written by hand."""
    blocks: list[tuple[int, int]] = []
    for first, last in data.draw(
        st.lists(st.tuples(st.integers(1, count), st.integers(1, count)), max_size=6)
    ):
        crosses = any(a < first <= b < last or first < a <= last < b for a, b in blocks)
        if first <= last and not crosses and (first, last) not in blocks:
            blocks.append((first, last))
    expected: list[str] = []
    for line in range(1, count + 1):
        around = sorted((one for one in blocks if one[0] <= line <= one[1]), key=lambda one: one[0] - one[1])
        for depth, (first, last) in enumerate(around):
            if first == line:
                expected.append("    " * depth + f"if {first}, {last}:")
        expected.append("    " * len(around) + f"s{line}")
    edits: list[Edit] = [wrap(first, last) for first, last in blocks]
    headers = sorted(blocks, key=lambda one: -one[1])
    edits = data.draw(st.permutations(edits))
    edits += [InsertLines(first, (f"if {first}, {last}:",), inside=False) for first, last in headers]
    old = text_of(*(f"s{line}" for line in range(1, count + 1)))
    assert apply_edits(old, edits) == text_of(*expected)
