"""Layers as NumPy source, for one decoder and one input law: their definition, with no closed form in it."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sympy import Expr, Symbol

from maskproof.proofs.explanation.printing import Code
from maskproof.theory.decoder import Decoder, Mask, Rope
from maskproof.theory.export.models import model_words
from maskproof.theory.inputs import Equicorrelated, Inputs, SharedGaussian, Sphere
from maskproof.theory.position import Alibi, T5Bias
from maskproof.theory.symbols import d, n

BATCHES = 20  # of random inputs: a standard error needs some
_NUMBERS = 4_000_000  # in one array of random inputs
_MOST_SAMPLES = 20_000
_PLACES = {"S": 0, "A": 1, "M": 2, "G": 3}
_ROWS_AND_COLUMNS = Symbol("i_", integer=True), Symbol("j_", integer=True)
_LENGTHS = "numpy.sqrt(numpy.diagonal(K, axis1=-2, axis2=-1))"
_UNIT = "numpy.linalg.norm({}, axis=-1, keepdims=True)"

Values = Mapping[Symbol, Expr]


def tokens_needed(mask: Mask, positions: Sequence[int], values: Values) -> int | None:
    """How many tokens a program has to look at to have these positions right; None where that is not known."""
    if mask.counted and n in values:
        return int(values[n])
    return mask.reach(max(positions))


@dataclass(frozen=True)
class Layers:
    """A model of so many tokens.

    Attributes:
        decoder, inputs: the model; its parameters may be symbols, whose values the program knows by name.
        tokens: how many there are.
        values: of the symbols.
        suffix: of all names, to tell models apart.
        code: prints formulas.
    """

    decoder: Decoder
    inputs: Inputs
    tokens: int
    values: Values
    suffix: str
    code: Code

    @property
    def random(self) -> bool:
        """Whether the program averages over random inputs."""
        return not isinstance(self.inputs, Equicorrelated)

    def source(self, letters: Collection[str]) -> str | None:
        """Functions S, A, M and G, as far as ``letters`` asks for them; None where NumPy alone would not do."""
        position = self._position()
        if position is None:
            return None
        end = self.suffix
        words = textwrap.indent(textwrap.fill(model_words(self.decoder, self.inputs), 100), "# ")
        head = [
            words,
            f"tokens{end} = {self.tokens}",
            f"i_, j_ = numpy.indices((tokens{end}, tokens{end})) + 1  # of query and key",
            f"visible{end} = {self.decoder.mask.numpy(*_ROWS_AND_COLUMNS)}",
            *position,
            *self._inputs(),
            f"known{end} = {{}}",
        ]
        turned = f" * turn{end}" if isinstance(self.decoder.position, Rope) else ""
        biased = f" + bias{end}" if len(position) and not turned else ""
        body = f'''\
def layer{end}(depth):
    """Scores, weights, mixing coefficients and Gram matrix of a layer, the Gram matrix of the inputs at 0."""
    if depth == 0:
        return None, None, None, inputs{end}
    if depth not in known{end}:
        K = layer{end}(depth - 1)[3]
        s = {self._factors()}  # normalises each vector
        S = K * s[..., :, None] * s[..., None, :]{turned}{self._divided()}
        exponents = numpy.where(visible{end}, {self._times(self.decoder.beta, "S")}{biased}, -numpy.inf)
        powers = numpy.exp(exponents - exponents.max(axis=-1, keepdims=True))
        A = powers / powers.sum(axis=-1, keepdims=True)
        M = A * s[..., None, :] + {self._times(self.decoder.residual, f"numpy.eye(tokens{end})")}
        known{end}[depth] = S, A, M, M @ K @ numpy.swapaxes(M, -1, -2)
    return known{end}[depth]'''
        return "\n\n".join(["\n".join(head), body, *(self._entry(letter) for letter in sorted(letters))])

    def _entry(self, letter: str) -> str:
        found = f"layer{self.suffix}(l)[{_PLACES[letter]}][..., i - 1, j - 1]"
        if self.random:
            found = f"{found}.reshape({BATCHES}, -1).mean(axis=1)  # a mean for each batch of inputs"
        return f"def {letter}{self.suffix}(l, i, j):\n    return {found}"

    def _times(self, factor: Expr, what: str) -> str:
        return what if factor == 1 else f"{self.code.factor(factor)} * {what}"

    @property
    def _width(self) -> str:
        law = self.inputs
        return self.code.doprint(law.d if isinstance(law, Sphere | SharedGaussian) else d)

    def _factors(self) -> str:
        match self.decoder.norm:
            case "l2":
                return f"1 / {_LENGTHS}"
            case "layernorm":
                return f"numpy.sqrt({self._width}) / {_LENGTHS}"
        return f"numpy.ones_like({_LENGTHS})"

    def _divided(self) -> str:
        scale = self.decoder.scale
        if isinstance(scale, str):
            return f" / numpy.sqrt({self._width})" if scale == "sqrt(d)" else f" / {self._width}"
        return "" if scale == 1 else f" / {self.code.factor(scale)}"

    def _position(self) -> list[str] | None:
        """What a position encoding does to scores, or adds to exponents."""
        code, end = self.code, self.suffix
        match self.decoder.position:
            case None:
                return []
            case Rope() if self.random:
                return None  # it turns the vectors themselves
            case Rope(base=base, dim=dim):
                angles = f"float({code.doprint(base)}) ** (-2 * numpy.arange({dim // 2}) / {dim})"
                return [f"turn{end} = numpy.cos((i_ - j_)[..., None] * {angles}).mean(axis=-1)"]
            case Alibi(slope=slope):
                return [f"bias{end} = -{code.factor(slope)} * abs(i_ - j_)"]
            case T5Bias() as position:
                first = 0 if position.later is None else 1 - self.tokens
                biases = {distance: position.bias(distance) for distance in range(first, self.tokens)}
                table = ", ".join(f"{distance}: {code.doprint(bias)}" for distance, bias in biases.items())
                return [f"bias{end} = numpy.vectorize({{{table}}}.get, otypes=[float])(i_ - j_, 0.0)"]
        return None

    def _inputs(self) -> list[str]:
        """The inner products of the inputs, by the definition of their law."""
        end, law = self.suffix, self.inputs
        alpha = self.code.factor(law.alpha)
        if not isinstance(law, Sphere | SharedGaussian):
            return [f"inputs{end} = {alpha} + (1 - {alpha}) * numpy.eye(tokens{end})  # inner products"]
        width = int(law.d.xreplace(dict(self.values)))
        samples = min(_MOST_SAMPLES, max(BATCHES, _NUMBERS // (self.tokens * max(self.tokens, width))))
        lines = [
            "# Plain simulation: maskproof's own errors are smaller, since it takes off what is known exactly.",
            "rng = numpy.random.default_rng(0)",
            f"x = rng.standard_normal(({samples // BATCHES * BATCHES}, tokens{end}, {width}))  # tokens as rows",
        ]
        shared = law.alpha.xreplace(dict(self.values)) != 0
        if shared:
            lines.append("u = rng.standard_normal((len(x), 1, x.shape[2]))  # what the tokens share")
        if isinstance(law, SharedGaussian):
            if shared:
                lines.append(f"x = x + numpy.sqrt({alpha} / (1 - {alpha})) * u")
            lines.append(f"x = x / {_UNIT.format('x') if law.unit else f'numpy.sqrt({width})'}")
        else:
            if shared:
                lines += [f"u = u / {_UNIT.format('u')}", "x = x - (x @ numpy.swapaxes(u, 1, 2)) * u"]
            lines.append(f"x = x / {_UNIT.format('x')}")
            if shared:
                lines.append(f"x = numpy.sqrt{alpha} * u + numpy.sqrt(1 - {alpha}) * x")
        if self.decoder.norm == "layernorm":
            lines.append("x = x - x.mean(axis=-1, keepdims=True)")
        return [*lines, f"inputs{end} = x @ numpy.swapaxes(x, 1, 2)  # inner products"]
