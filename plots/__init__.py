"""Times to targets, tables, figures and the page, from stored results alone. Nothing here trains or measures."""
from .curves import curves
from .profiles import profiles

__all__ = ["curves", "profiles"]
