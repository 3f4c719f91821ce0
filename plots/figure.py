"""What all figures share: style, texts around the axes, and the files .svg, .pdf, .png and .csv."""
import textwrap
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import pandas as pd

from ..files import file_name_part, whole_file, write_text
from .texts import csv_text, data_warnings

STYLE = Path(__file__).with_name("proxbench.mplstyle")
WIDTH = 8.0  # inches
NARROW = 5.0  # below this width, fonts are smaller and the key stands below the axes
CYCLE = matplotlib.rc_params_from_file(STYLE, use_default_template=False)["axes.prop_cycle"].by_key()
DASHES = ["-", (0, (5, 2)), (0, (1, 1.4)), (0, (6, 2, 1, 2)), (0, (9, 3))]
GREY = "#7F7F7F"
DATES = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": None}  # the formats, none of which has a date


@contextmanager
def style(width=WIDTH):
    """The settings of matplotlib for figures of this width."""
    with matplotlib.rc_context(fname=STYLE):
        if width < NARROW:
            matplotlib.rcParams.update({"font.size": 7.0, "lines.linewidth": 1.1, "lines.markersize": 3})
        yield


def line_style(place, variant=0):
    """The style of the solver at this place: colours vary first, then dashes. Machines differ by `variant`."""
    turn, at = divmod(place, len(CYCLE["color"]))
    return {"color": CYCLE["color"][at], "linestyle": DASHES[(turn + variant) % len(DASHES)],
            "marker": CYCLE["marker"][(place + turn + variant) % len(CYCLE["marker"])]}


def draw_lines(ax, rows, x, y, by, looks):
    """A line of the columns x and y for each value of the column `by`, in its look."""
    for name, some in rows.groupby(by, sort=False):
        ax.plot(some[x], some[y], label=plain_label(name), **looks[name])


@dataclass
class Picture:
    """A figure and the rows behind it. `draw` draws into the axes of `layout`, in its order."""

    name: str  # of its files, without extension
    title: str  # bold
    draw: object
    rows: pd.DataFrame
    subtitle: str = ""
    caption: str = ""
    comparable: bool = True  # the timings, if it shows any
    data: tuple = ()  # descriptions of the data sets; default: the subtitle
    layout: tuple = (("a",),)  # of the panels, as Figure.subplot_mosaic() takes it
    height: float = 0.62  # of the panels, as a share of the width
    key: str = "outside"  # or a place inside the first panel, as legend(loc=...) takes it, or ""

    @property
    def full_title(self):
        return data_warnings(self.data or [self.subtitle], self.comparable) + self.title

    def figure(self, width=WIDTH):
        """Must be called, and its result saved, within style(width)."""
        from matplotlib.figure import Figure

        size = matplotlib.rcParams["font.size"]
        figure = Figure(layout="constrained")
        axes = list(figure.subplot_mosaic(list(map(list, self.layout))).values())
        self.draw(*axes)
        lines, place = 0, {"x": 0.01, "ha": "left"}
        for put, text, look in ((figure.suptitle, self.full_title, {"fontsize": size, "weight": "bold"}),
                                (figure.supxlabel, f"{self.subtitle or ''}\n{self.caption}".strip(),
                                 {"fontsize": 0.8 * size, "color": "#444444"})):
            letters = int(110 * width / look["fontsize"])  # that fit a line
            wrapped = [line for part in text.splitlines() for line in textwrap.wrap(part, letters)]
            put(plain_label("\n".join(wrapped)), **place, **look)
            lines += len(wrapped)
        _, labels = axes[0].get_legend_handles_labels()
        if labels and self.key == "outside" and width < NARROW:
            columns = max(1, int(130 * width / size / (max(map(len, labels)) + 7)))
            axes[0].legend(loc="upper left", bbox_to_anchor=(0, -0.2), ncol=columns)
            lines += -(-len(labels) // columns)
        elif labels and self.key:
            beside = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0}
            axes[0].legend(**beside if self.key == "outside" else {"loc": self.key})
        figure.set_size_inches(width, self.height * width + lines * 1.3 * size / 72)
        return figure

    def save(self, folder, width=None):
        """Writes NAME.svg, .pdf, .png and .csv. Returns the .png."""
        width, file = width or WIDTH, Path(folder) / file_name_part(self.name)
        with style(width):
            figure = self.figure(width)
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
