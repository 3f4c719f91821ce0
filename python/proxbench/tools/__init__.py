"""Programs that develop proxbench: they measure builds, compare them, test them and make the pages of results.

scripts/NAME starts each. They need the source tree, Python 3.9 and no packages, so they also run where nothing is built
or installed. `cmake --install` leaves them out.
"""
