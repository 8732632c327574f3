"""What every mask says of itself agrees with itself, whatever kind it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy
import pytest
import sympy
from sympy import Eq

from maskproof.proofs.command import options
from maskproof.proofs.command.arguments import mask as typed
from maskproof.theory import Claim, Decoder, InvalidInput, Score, alpha, i, j
from maskproof.theory.export.latex import latex_document
from maskproof.theory.export.markdown import markdown_document
from maskproof.theory.export.models import decoder_words
from maskproof.theory.export.python import python_source
from maskproof.theory.masks import (
    MASKS,
    Bidirectional,
    Blocks,
    Causal,
    Dilated,
    Mask,
    Prefix,
    SlidingWindow,
    named,
    usages,
)
from maskproof.theory.quantities import Record
from tests.masks import EXAMPLES

LONGEST = 9
each = pytest.mark.parametrize("mask", EXAMPLES, ids=str)


def lengths(mask: Mask) -> range:
    return range(mask.least, LONGEST + 1)


@each
def test_keys_are_keys_and_the_query_is_among_them(mask: Mask) -> None:
    for n in lengths(mask):
        for query in range(1, n + 1):
            keys = mask.keys(query, n)
            assert query in keys
            assert list(keys) == sorted(set(keys) & set(range(1, n + 1)))


@each
def test_matrix_condition_and_numpy_say_what_keys_say(mask: Mask) -> None:
    rows, columns = numpy.ogrid[1 : LONGEST + 1, 1 : LONGEST + 1]
    by_numpy = eval(mask.numpy(), {"numpy": numpy, "i": rows, "j": columns})
    by_numpy = numpy.broadcast_to(by_numpy, (LONGEST, LONGEST))
    matrix = mask.matrix(LONGEST)
    for query in range(1, LONGEST + 1):
        for key in range(1, LONGEST + 1):
            seen = key in mask.keys(query, LONGEST)
            assert matrix[query - 1][key - 1] is seen
            assert bool(by_numpy[query - 1, key - 1]) is seen
            assert mask.condition.subs({i: query, j: key}) is sympy.sympify(seen)


@each
def test_rows_depend_on_no_more_tokens_than_is_said(mask: Mask) -> None:
    for query in range(1, LONGEST + 1):
        reach = mask.reach(query)
        assert (reach is None) == (mask.keys(1, LONGEST) != mask.keys(1, LONGEST + 1))
        if reach is not None:
            rows = {tuple(map(tuple, (mask.keys(row, n) for row in range(1, query + 1)))) for n in (reach, LONGEST + 9)}
            assert len(rows) == 1
            assert max(key for keys in next(iter(rows)) for key in keys) <= reach


@each
def test_it_looks_ahead_if_some_query_sees_a_later_key(mask: Mask) -> None:
    assert mask.ahead == any(mask.keys(query, LONGEST)[-1] > query for query in range(1, LONGEST + 1))
    assert mask.counted or not mask.ahead


@each
def test_names_words_and_records(mask: Mask) -> None:
    assert named(mask.name, mask.numbers) == mask
    assert typed(":".join([mask.name, *map(str, mask.numbers)])) == mask
    assert Record.read(Record.of(mask)) == mask
    assert mask.words in decoder_words(Decoder(mask=mask))
    assert all(str(number) in mask.words for number in mask.numbers)
    claim = Claim("mine", Score(2, i, j) < 1, j < i, Decoder(mask=mask))
    assert mask.words in markdown_document([claim], (), {}, {})


def test_a_closed_form_as_python_refuses_hidden_keys() -> None:
    claim = Claim("mine", Eq(Score(1, i + 1, j), alpha), j < i, Decoder(mask=Dilated(3, 2)))
    names: dict = {}
    exec(python_source([claim]), names)
    assert names["mine"](alpha=0.5, i=[4, 6], j=[3, 3]).tolist() == [0.5, 0.5]
    for hidden in ({"i": 3, "j": 1}, {"i": 6, "j": 1}):
        with pytest.raises(ValueError, match=r"query i \+ 1 sees key j"):
            names["mine"](alpha=0.5, **hidden)
    always = Claim("mine", Eq(Score(1, i, j), alpha), j < i, Decoder(mask=Bidirectional()))
    assert "sees" not in python_source([always])


@pytest.mark.parametrize(
    ("mask", "condition"),
    [
        (Bidirectional(), "no mask: always"),
        (
            SlidingWindow(3),
            r"sliding window of 3: where $\mpkey \le \mpquery \quad\text{and}\quad \mpquery - 3 < \mpkey$",
        ),
        (Prefix(3), r"prefix of 3: where $\mpkey \le 3 \quad\text{or}\quad \mpkey \le \mpquery$"),
        (Dilated(3, 2), r"at steps of 2: where $\left(\mpquery - \mpkey\right) \bmod 2 = 0"),
        (Blocks(2), r"blocks of 2 that also see the block before: where $\mpkey \le \mpquery"),
    ],
)
def test_the_article_says_what_masks_show(mask: Mask, condition: str) -> None:
    claims = [Claim("mine", Score(2, i, j) < 1, j < i, Decoder(mask=mask)), Claim("other", Score(2, i, j) < 1, j < i)]
    text = latex_document(claims, (), {}, {})
    assert condition in text


def test_the_help_names_every_mask() -> None:
    assert f"{usages()}." == options.MASK
    assert list(MASKS) == [kind.name for kind in MASKS.values()]


@pytest.mark.parametrize("numbers", [(), (0,), (-1,), (1.5,), (1, 1, 1)])
def test_what_is_no_mask_is_refused_in_a_sentence(numbers: tuple[int, ...]) -> None:
    with pytest.raises(InvalidInput, match="violates"):
        named("window", numbers)
    with pytest.raises(InvalidInput, match="window:W"):
        named("diagonal", numbers)
    with pytest.raises(InvalidInput, match=r"'mask is known'.*Dilated.*SlidingWindow"):
        Decoder(mask="causal")  # type: ignore[arg-type]


def test_a_mask_of_ones_own_runs_in_numbers_but_is_in_no_claim() -> None:
    @dataclass(frozen=True)
    class Odd(Mask):
        name: ClassVar[str] = "odd"
        noun: ClassVar[str] = "odd mask"

        def keys(self, i: int, n: int) -> range:
            return range(1 + (i - 1) % 2, i + 1, 2)

        @property
        def condition(self) -> sympy.Basic:
            return Causal().condition

    assert Odd().matrix(3) == [[True, False, False], [False, True, False], [True, False, True]]
    with pytest.raises(InvalidInput, match="no subclass"):
        Record.of(Decoder(mask=Odd()))
