"""The site: claims, derivations, notebooks and reference as pages that need no network.

``python -m maskproof.proofs.site [OUT]`` writes Markdown from the claims and their recorded verdicts, adds the
texts of ``docs/`` and the proof notebooks, and lets Sphinx make pages of it all.
"""
