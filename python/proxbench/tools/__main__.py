"""`python3 python/proxbench/tools NAME ...` is `scripts/NAME ...`."""
import sys
from pathlib import Path

if not __package__:  # started by its folder: no PYTHONPATH reaches the programs that a tool starts
    sys.path[0] = str(Path(__file__).resolve().parents[2])

from proxbench.tools.common import start  # noqa: E402

sys.exit(start(*sys.argv[1:]))
