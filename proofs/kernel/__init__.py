"""The kernel: lines, rules, derivations.

What has to be trusted for PROVED, and nothing else:

* this package: ``algebra`` (rational functions and normal forms), ``signs``, ``known`` (what follows at once, and what
  has a value), ``goals`` (lines and the register of rules), ``layer``, ``sums``, ``logic``, ``order``, ``limits``
  and ``induction`` (the rules), ``checking`` (derivations);
* ``proofs.terms``: ``terms``, ``conditions``, ``derivatives`` and ``understood`` (``text`` only words messages);
* python-flint for polynomials over the rationals and for exp of a rational; the Python that all this runs on.

SymPy is not imported. ``proofs.terms.reading``, which turns what is written in SymPy into terms, is outside: it decides
what is said, and ``proofs.terms.text`` prints what was read.
"""
