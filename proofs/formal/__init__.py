"""Derivations as Coq files: every step a lemma that Coq proves from the lemmas of its premises."""
