import signal
import sys

from .cli import main

signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: no temporary file stays
sys.exit(main())
