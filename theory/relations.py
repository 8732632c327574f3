"""Relations as they are written down: SymPy is not asked whether they are true.

``sympy.Lt(a, b)`` tries to decide ``a < b`` while it is built. What it can't decide it leaves as it is, and for a page
of formulas the attempt takes seconds. Statements and derivations are built with the names of this module instead, which
give the same objects: whether a relation is true is for the engines to say.
"""

from __future__ import annotations

from functools import partial

import sympy

Eq = partial(sympy.Eq, evaluate=False)
Ne = partial(sympy.Ne, evaluate=False)
Lt = partial(sympy.Lt, evaluate=False)
Le = partial(sympy.Le, evaluate=False)
Gt = partial(sympy.Gt, evaluate=False)
Ge = partial(sympy.Ge, evaluate=False)
