"""What a proof notebook shows: claims with their verdicts, derivations step by step, figures, tables, sliders.

Everything that looks like a result is computed when the cell runs: a claim is verified, a step is put to the
kernel. So a notebook cannot show a verdict that does not hold, and it fails where one has changed.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from maskproof.proofs import registry
from maskproof.proofs.command.console import STATIC
from maskproof.proofs.engines import derivations
from maskproof.proofs.kernel.known import Rejected
from maskproof.proofs.pipeline import verify
from maskproof.proofs.shown import drawing
from maskproof.proofs.shown.report import reason, witness
from maskproof.theory.claim import Claim
from maskproof.theory.derivation import Derivation, Step
from maskproof.theory.errors import InvalidInput
from maskproof.theory.export.arguments import Argument
from maskproof.theory.export.markdown import models_markdown, opening_markdown, statement_markdown, step_markdown
from maskproof.theory.formula import Formula
from maskproof.theory.notation.prose import markdown_escape, markdown_prose
from maskproof.theory.topics import TOPICS


@dataclass(frozen=True)
class Page:
    """Markdown that a notebook renders."""

    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_markdown_(self) -> str:
        return self.text


class Picture:
    """A figure, drawn sharp at the size of its inches.

    Args:
        figure: of matplotlib.
        words: what is to be seen, for whoever cannot see it.
    """

    def __init__(self, figure: Any, words: str) -> None:
        self.words = words
        buffer = io.BytesIO()
        with drawing.styled():
            figure.savefig(buffer, format="png", dpi=192, metadata={"Software": None})
        self._png = buffer.getvalue()
        self._width = round(96 * figure.get_size_inches()[0])

    def __repr__(self) -> str:
        return self.words

    def _repr_png_(self) -> tuple[bytes, dict[str, Any]]:
        return self._png, {"width": self._width, "alt": self.words}


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Page:
    """A table; cells are Markdown, so formulas stand between dollar signs."""
    lines = [head, ["---"] * len(head), *([str(cell) for cell in row] for row in rows)]
    return Page("\n".join("| " + " | ".join(line) + " |" for line in lines))


# Claims


def stated(claim: str | Claim) -> Page:
    """A claim as it is written, nothing said about whether it is true; shipped claims by id."""
    chosen = _claim(claim)
    head = f"**`{chosen.id}`**" + (f" ({markdown_prose(chosen.source)})" if chosen.source else "")
    return Page("\n\n".join([head, statement_markdown(chosen), *models_markdown(chosen)]))


def checked(*claims: str | Claim) -> Page:
    """Verify claims here and now, and say what came out; shipped claims by id.

    Raises:
        AssertionError: a shipped claim has another verdict or witness than the recorded one.
        InvalidInput: a claim is malformed, or no shipped claim has this id.
    """
    chosen = [_claim(claim) for claim in claims]
    results = verify(chosen)
    shipped = registry.by_id()
    known = [r for r, claim in zip(results, chosen, strict=True) if shipped.get(r.id) is claim]
    lines = registry.differences(known, registry.recorded())
    if lines:
        raise AssertionError("; ".join(lines))
    rows = []
    for result in results:
        point = f"at {witness(result.witness)}: " if result.witness else ""
        rows.append((f"`{result.id}`", f"**{result.verdict}**", point + markdown_escape(reason(result))))
    return table(("claim", "verdict", "because"), rows)


def _claim(claim: str | Claim) -> Claim:
    if isinstance(claim, Claim):
        return claim
    known = {shipped.id: shipped for shipped in registry.shipped()}
    if claim not in known:
        raise InvalidInput(f"claim {claim!r}", "'the claim is shipped'", "see maskproof list")
    return known[claim]


# Derivations


class Walk:
    """A derivation, walked through a step at a time; the kernel checks each step as it is shown.

    Args:
        derivation: the derivation, or the name of one of ``theory.topics``.
    """

    def __init__(self, derivation: Derivation | str) -> None:
        self.derivation = TOPICS[derivation] if isinstance(derivation, str) else derivation
        self._argument = Argument(self.derivation, {})

    def __getitem__(self, label: str) -> Step:
        return {step.label: step for step in self.derivation.steps}[label]

    def opening(self) -> Page:
        """What the derivation starts from: introduction, models, hypotheses, notation."""
        return Page("\n\n".join(opening_markdown(self._argument)))

    def step(self, *labels: str) -> Page:
        """Check the steps with these labels, and all that they rest on; show them.

        Raises:
            Rejected: a step does not follow.
        """
        last = max(self._argument.number[label] for label in labels)
        derivations.check(replace(self.derivation, steps=self.derivation.steps[:last]))
        shown = [step_markdown(self._argument, self[label]) for label in labels]
        return Page("\n\n".join([*shown, "✓ checked by the kernel"]))

    def altered(self, label: str, statement: Any) -> str:
        """What the kernel says when the step of this label claims something else.

        Raises:
            AssertionError: it says nothing: the altered step follows as well.
        """
        steps = tuple(replace(s, statement=statement) if s.label == label else s for s in self.derivation.steps)
        try:
            derivations.check(replace(self.derivation, steps=steps[: self._argument.number[label]]))
        except Rejected as rejected:
            return str(rejected)
        raise AssertionError(f"the altered step {label} was accepted")


def written(formula: Formula) -> Page:
    """A formula with the meaning of its letters."""
    return Page(f"$$\n{formula.latex(width=60).replace('align*', 'aligned')}\n$$")


# Sliders


def explore(draw: Callable[..., Any], at: Mapping[str, Any], **controls: Any) -> None:
    """Show ``draw`` with sliders for its arguments, or at one place where nobody can move them.

    Args:
        draw: returns something a notebook can show.
        at: the arguments shown at first, and the only ones where there are no sliders.
        controls: for each argument what ``ipywidgets.interact`` takes: (low, high, step), or a list of choices.
    """
    from IPython.display import display

    if os.environ.get(STATIC):
        display(draw(**at))
        return
    import ipywidgets

    def widget(name: str, control: Any) -> Any:
        if isinstance(control, tuple):
            low, high, step = control
            kind = ipywidgets.IntSlider if all(isinstance(v, int) for v in control) else ipywidgets.FloatSlider
            # drawn when the handle is let go: a score map takes longer than a movement of the hand
            return kind(at[name], min=low, max=high, step=step, description=name, continuous_update=False)
        return ipywidgets.Dropdown(options=control, value=at[name], description=name)

    fixed = {name: ipywidgets.fixed(value) for name, value in at.items() if name not in controls}
    moving = {name: widget(name, control) for name, control in controls.items()}
    ipywidgets.interact(lambda **chosen: display(draw(**chosen)), **fixed, **moving)
