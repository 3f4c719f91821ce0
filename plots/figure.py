"""What all figures share: style, texts around the axes, and the files .svg, .pdf, .png and .csv."""
import math
import os
import textwrap
from contextlib import contextmanager
from dataclasses import dataclass, field

from ..files import make_folder, whole_file, write_text
from .texts import csv_text

STYLE = os.path.join(os.path.dirname(__file__), "proxbench.mplstyle")
WIDTH = 8.0  # inches
NARROW = 5.0  # below this width, fonts are smaller and the key stands below the axes
SMALL = 0.78  # of the font of subtitle and caption
DASHES = ["-", (0, (5, 2)), (0, (1, 1.4)), (0, (6, 2, 1, 2)), (0, (9, 3))]
GREY = "#7F7F7F"


@contextmanager
def style(width=WIDTH):
    """The settings of matplotlib for figures of this width."""
    import matplotlib

    with matplotlib.rc_context(fname=STYLE):
        if width < NARROW:
            matplotlib.rcParams.update({"font.size": 7.0, "lines.linewidth": 1.1, "lines.markersize": 3,
                                        "grid.linewidth": 0.5, "axes.linewidth": 0.6})
        yield matplotlib.rcParams


def line_style(place, variant=0):
    """The style of the solver at this place: colours vary first, then dashes. Machines differ by `variant`."""
    import matplotlib

    cycle = matplotlib.rcParams["axes.prop_cycle"].by_key()
    colours, markers = cycle["color"], cycle.get("marker", ["o"])
    turn = place // len(colours) + variant
    colour = colours[place % len(colours)]
    return {"color": colour if colour.startswith("#") else f"#{colour}", "linestyle": DASHES[turn % len(DASHES)],
            "marker": markers[(place + turn) % len(markers)]}


@dataclass
class Picture:
    """A figure and the rows behind it. `draw(axes)` draws into as many axes as `panels` says."""

    name: str  # of its files, without extension
    title: str  # bold
    draw: object
    rows: list
    head: list
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
        """Must be called, and its result saved, within style(width)."""
        import matplotlib
        from matplotlib.figure import Figure

        size = matplotlib.rcParams["font.size"]
        room = width - 0.12
        wrap = lambda text, of: [line for part in text.split("\n")  # noqa: E731
                                 for line in textwrap.wrap(part, max(20, int(room * 72 / (0.53 * of))))]
        title = wrap(self.whole_title, 1.13 * size)
        subtitle, caption = wrap(self.subtitle, SMALL * size), wrap(self.caption, SMALL * size)
        inches = lambda lines, of: len(lines) * 1.3 * of / 72  # noqa: E731
        top = inches(title, size) + inches(subtitle, SMALL * size) + 0.12
        bottom = inches(caption, SMALL * size) + 0.08
        figure = Figure(figsize=(width, self.height * width + top + bottom), layout="constrained")
        axes = figure.subplot_mosaic(self.layout)
        self.draw(list(axes.values()))
        first = next(iter(axes.values()))
        handles, labels = first.get_legend_handles_labels()
        if labels and self.key == "outside" and width >= NARROW:
            first.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0)
        elif labels and self.key == "outside":
            columns = max(1, min(len(labels), int(room * 72 / (size * (0.6 * max(map(len, labels)) + 4.5)))))
            rows = math.ceil(len(labels) / columns)
            key = rows * 1.5 * size / 72 + 0.06
            figure.legend(handles, labels, loc="lower center", ncol=columns, borderaxespad=0,
                          bbox_to_anchor=(0.5, bottom / (figure.get_figheight() + key)))
            figure.set_figheight(figure.get_figheight() + key)
            bottom += key
        elif labels and self.key:
            first.legend(loc=self.key)
        height = figure.get_figheight()
        figure.get_layout_engine().set(rect=(0.01, bottom / height, 0.98, 1 - (top + bottom) / height), h_pad=0.05)
        place = dict(x=0.06 / width, va="top", ha="left")
        # Dollar signs in names are no formulas.
        plain = lambda lines: "\n".join(lines).replace("$", r"\$")  # noqa: E731
        figure.text(y=1 - 0.05 / height, s=plain(title), fontsize=size, weight="bold", **place)
        figure.text(y=1 - (0.06 + inches(title, size)) / height, s=plain(subtitle), fontsize=SMALL * size,
                    color="#444444", linespacing=1.3, **place)
        figure.text(y=(bottom if not (labels and self.key == "outside" and width < NARROW) else bottom - key)
                    / height, s=plain(caption), fontsize=SMALL * size, color="#444444", linespacing=1.3, **place)
        return figure

    def save(self, folder, width=WIDTH):
        """Writes NAME.svg, .pdf, .png and .csv. Returns the .png."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        make_folder(folder)
        with style(width):
            figure = self.figure(width)
            FigureCanvasAgg(figure)
            figure.draw_without_rendering()  # finds the layout once, for all files
            figure.set_layout_engine("none")
            for extension in ("svg", "pdf", "png"):
                with whole_file(os.path.join(folder, f"{self.name}.{extension}")) as file:
                    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(extension)
                    figure.savefig(file, format=extension, metadata=dates)
        write_text(os.path.join(folder, f"{self.name}.csv"), csv_text(self.rows, self.head))
        return os.path.join(folder, f"{self.name}.png")


def plain_label(text):
    """A label that matplotlib draws as it is: no formula, and shown in keys even if it begins with "_"."""
    return ("\u200b" if text.startswith("_") else "") + text.replace("$", r"\$")


def save_all(pictures, folder, width=WIDTH):
    return [picture.save(folder, width) for picture in pictures]


def with_commas(number):
    return f"{int(number):,}"


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
