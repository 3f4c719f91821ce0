"""Stored results of proxbench: `load` reads them into data frames, and `proxbench.plots` shows them.

    import proxbench
    sweep = proxbench.load("results/quickstart")
    sweep.runs, sweep.samples, sweep.times([1e-4])
    proxbench.plots.curves(sweep)
"""
from .errors import ProxbenchError, UsageError

__all__ = ["ProxbenchError", "UsageError", "load", "plots"]


def load(*folders, **options):
    """See proxbench.sweep.load."""
    from .sweep import load as read

    return read(*folders, **options)


def __getattr__(name):
    if name == "plots":
        import importlib

        return importlib.import_module(".plots", __name__)
    raise AttributeError(f"module 'proxbench' has no attribute '{name}'")
