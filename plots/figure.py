"""What all figures share: style, texts around the axes, and the files .svg, .pdf, .png and .csv."""
import math
import os
import textwrap
from contextlib import contextmanager
from dataclasses import dataclass, field

import matplotlib
import pandas as pd

from ..files import make_folder, whole_file, write_text
from .texts import csv_text

STYLE = os.path.join(os.path.dirname(__file__), "proxbench.mplstyle")
WIDTH = 8.0  # inches
NARROW = 5.0  # below this width, fonts are smaller and the key stands below the axes
SMALL = 0.78  # of the font of subtitle and caption
DASHES = ["-", (0, (5, 2)), (0, (1, 1.4)), (0, (6, 2, 1, 2)), (0, (9, 3))]
GREY = "#7F7F7F"
DATES = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": None}  # the formats, none of which has a date


@contextmanager
def style(width=WIDTH):
    """The settings of matplotlib for figures of this width."""
    with matplotlib.rc_context(fname=STYLE):
        if width < NARROW:
            matplotlib.rcParams.update({"font.size": 7.0, "lines.linewidth": 1.1, "lines.markersize": 3,
                                        "grid.linewidth": 0.5, "axes.linewidth": 0.6})
        yield


def line_style(place, variant=0):
    """The style of the solver at this place: colours vary first, then dashes. Machines differ by `variant`."""
    cycle = matplotlib.rcParams["axes.prop_cycle"].by_key()
    colours, markers = cycle["color"], cycle.get("marker", ["o"])
    turn = place // len(colours) + variant
    return {"color": "#" + colours[place % len(colours)].lstrip("#"), "linestyle": DASHES[turn % len(DASHES)],
            "marker": markers[(place + turn) % len(markers)]}


@dataclass
class Picture:
    """A figure and the rows behind it. `draw(axes)` draws into the axes of `layout`, in its order."""

    name: str  # of its files, without extension
    title: str  # bold
    draw: object
    rows: pd.DataFrame
    warning: str = ""  # bold, before the title
    about: str = ""  # after the title
    subtitle: str = ""
    caption: str = ""
    layout: list = field(default_factory=lambda: [["a"]])  # of the panels, as Figure.subplot_mosaic() takes it
    height: float = 0.62  # of the panels, as a share of the width
    key: str = "outside"  # or a place inside the first panel, as legend(loc=...) takes it, or ""

    @property
    def whole_title(self):
        return self.warning + self.title + self.about

    def figure(self, width=WIDTH):
        """Must be called, and its result saved, within style(width). Texts have no place in matplotlib's layout, so
        their lines are wrapped and counted here."""
        from matplotlib.figure import Figure

        size, room = matplotlib.rcParams["font.size"], width - 0.12
        wrap = lambda text, of: [line for part in text.split("\n")  # noqa: E731
                                 for line in textwrap.wrap(part, max(20, int(room * 72 / (0.53 * of))))]
        inches = lambda lines, of: len(lines) * 1.3 * of / 72  # noqa: E731
        title, small = wrap(self.whole_title, 1.13 * size), SMALL * size
        subtitle, caption = wrap(self.subtitle, small), wrap(self.caption, small)
        top, bottom = inches(title, size) + inches(subtitle, small) + 0.12, inches(caption, small) + 0.08
        figure = Figure(layout="constrained")
        axes = list(figure.subplot_mosaic(self.layout).values())
        self.draw(axes)
        handles, labels = axes[0].get_legend_handles_labels()
        below = 0.0  # the height of a key below the axes
        if labels and self.key == "outside" and width < NARROW:
            columns = max(1, min(len(labels), int(room * 72 / (size * (0.6 * max(map(len, labels)) + 4.5)))))
            below = math.ceil(len(labels) / columns) * 1.5 * size / 72 + 0.06
        height = self.height * width + top + bottom + below
        figure.set_size_inches(width, height)
        if below:
            figure.legend(handles, labels, loc="lower center", ncol=columns, borderaxespad=0,
                          bbox_to_anchor=(0.5, bottom / height))
        elif labels and self.key == "outside":
            axes[0].legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0)
        elif labels and self.key:
            axes[0].legend(loc=self.key)
        figure.get_layout_engine().set(rect=(0.01, (bottom + below) / height, 0.98,
                                             1 - (top + bottom + below) / height),
                                       h_pad=0.05)
        grey = {"fontsize": small, "color": "#444444", "linespacing": 1.3}
        for lines, y, look in ((title, height - 0.05, {"fontsize": size, "weight": "bold"}),
                               (subtitle, height - 0.06 - inches(title, size), grey), (caption, bottom, grey)):
            figure.text(0.06 / width, y / height, plain_label("\n".join(lines)), va="top", ha="left", **look)
        return figure

    def save(self, folder, width=None):
        """Writes NAME.svg, .pdf, .png and .csv. Returns the .png."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        make_folder(folder)
        width, file = width or WIDTH, os.path.join(folder, self.name)
        with style(width):
            figure = self.figure(width)
            FigureCanvasAgg(figure)
            figure.draw_without_rendering()  # finds the layout once, for all files
            figure.set_layout_engine("none")
            for extension, dates in DATES.items():
                with whole_file(f"{file}.{extension}") as name:
                    figure.savefig(name, format=extension, metadata=dates)
        write_text(f"{file}.csv", csv_text(self.rows))
        return f"{file}.png"


def plain_label(text):
    """A text that matplotlib draws as it is: no formula, and shown in keys even if it begins with "_"."""
    return ("\u200b" if text.startswith("_") else "") + text.replace("$", r"\$")


def log_axis(axis):
    """Labels of a log axis: written out between 1e-4 and 1e7, powers of ten beyond."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = sorted(axis.get_view_interval())
    decades = math.log10(high / low) if low > 0 else 0
    axis.set_major_locator(LogLocator(10, (1.0,) if decades > 2.2 else (1.0, 2.0, 5.0) if decades > 0.8 else
                                      tuple(map(float, range(1, 10))), numticks=12))
    axis.set_minor_formatter(NullFormatter())
    if low >= 1e-4 and high < 1e7:
        axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}" if x >= 1 and x == round(x) else f"{x:.10g}"))
