"""Names as they are typed: exact, with * and ? for parts of them, or nearly right and therefore refused with a hint."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase

from maskproof.proofs.command import arguments
from maskproof.theory.errors import InvalidInput

_PATTERN = "*?["
_CLOSE = 0.5  # likeness from which a name is suggested
_TOLD = 6  # wrong names that one line can hold


def resolve(
    words: Sequence[str], names: Collection[str], what: str, violates: str, remedy: str, *, short: bool = False
) -> list[tuple[str, str]]:
    """What is typed and the name that is meant, in the order typed; a pattern gives every name that it fits.

    Args:
        words: what is typed.
        names: all that there are.
        what: of the error, such as "claim".
        violates: of the error, such as "'the claim is shipped'".
        remedy: of the error, such as "see maskproof list".
        short: whether the part of a name behind its first dot will do, where it says which.

    Raises:
        InvalidInput: names that are unknown or mean several things, all of them in one line.

    >>> resolve(["kim.*", "g"], ["kim.g", "kim.h"], "claim", "'it is shipped'", "see the list", short=True)
    [('kim.g', 'kim.g'), ('kim.h', 'kim.h'), ('g', 'kim.g')]
    """
    found: list[tuple[str, str]] = []
    wrong: dict[str, str] = {}
    for word in dict.fromkeys(words):
        behind = [name for name in names if name.partition(".")[2] == word]
        if word in names:
            found.append((word, word))
        elif any(sign in word for sign in _PATTERN) and (fitting := [n for n in names if fnmatchcase(n, word)]):
            found += [(name, name) for name in fitting]
        elif short and len(behind) == 1:
            found.append((word, behind[0]))
        else:
            wrong[word] = _hint(word, names, behind, short)
    if wrong:
        raise _refusal(wrong, what, violates, remedy)
    return list(dict.fromkeys(found))


def _hint(word: str, names: Collection[str], behind: Sequence[str], short: bool) -> str:
    """What may have been meant."""
    if behind:
        return f"{'say' if short and len(behind) > 1 else 'did you mean'} {' or '.join(behind)}"
    close = _closest(word, names, short)
    return f"did you mean {close}" if close else ""


def _closest(word: str, names: Collection[str], short: bool) -> str:
    """The name that differs in case alone, or the one most like ``word``; behind the dot counts as well."""
    lower = word.lower()
    tails = {name.partition(".")[2]: name for name in names if "." in name}
    for candidates in (names, tails):
        same = [name for name in candidates if name.lower() == lower]
        if same:
            return same[0] if candidates is names or short else tails[same[0]]
    everything = {name.lower(): name for name in reversed([*names, *(tails if short else ())])}
    close = difflib.get_close_matches(lower, everything, n=1, cutoff=_CLOSE)
    if close:
        return everything[close[0]]
    lowered = {tail.lower(): name for tail, name in tails.items()}
    close = difflib.get_close_matches(lower, lowered, n=1, cutoff=_CLOSE)
    return lowered[close[0]] if close else ""


def _refusal(wrong: dict[str, str], what: str, violates: str, remedy: str) -> InvalidInput:
    shown = [arguments.shown(word) for word in wrong]
    subject = f"{what} {shown[0]}" if len(shown) == 1 else f"{what}s {_listed(shown)}"
    if len(wrong) == 1:
        hints = [hint for hint in wrong.values() if hint]
    else:
        hints = [f"for {word} {hint}" for word, hint in zip(shown, wrong.values(), strict=True) if hint][:_TOLD]
    words = [f"{', '.join(hints)}{'?' if any('did you mean' in hint for hint in hints) else ''}"] if hints else []
    separator = " " if words and words[0].endswith("?") else ", "
    return InvalidInput(subject, violates, separator.join([*words, remedy]))


def _listed(words: Sequence[str]) -> str:
    more = len(words) - _TOLD
    return ", ".join(words[:_TOLD]) + (f" and {more} more" if more > 0 else "")
