"""Formulas in print: the order of terms, LaTeX, plain text, line breaks, prose."""
