"""What every engine works on: terms, their reading from SymPy, and the conditions under which they have a value."""
