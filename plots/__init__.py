"""Times to targets, tables, figures and the page, from stored results alone. Nothing here trains or measures.

`curves` is the function for notebooks; the other kinds are modules.
"""
from .curves import curves

__all__ = ["curves"]
