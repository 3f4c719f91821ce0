// The charts and the sortable tables of a report. A chart's data stand in its figure as JSON (plots/chart_data.h says
// what they are); all that is drawn is chosen by the reader in the controls above it.
"use strict";
(() => {
  const AXES = {
    seconds: "Time (s)",
    passes: "Oracle calls / n",
    updates: "Parameter updates / n",
    iterations: "Iterations",
  };
  const QUANTITIES = {
    objective: {title: "Relative objective difference", axis: "(f − f*) / f*", log: true, labelWidth: 46,
      toReference: true, text: (v) => v.toExponential(2)},
    suboptimality: {title: "Primal suboptimality", axis: "(f − f*) / n", log: true, labelWidth: 46,
      toReference: true, text: (v) => v.toExponential(2)},
    nnz: {title: "Nonzero weights", axis: "Nonzero weights", log: true, labelWidth: 70,
      text: (v) => withCommas(Math.round(v))},
    accuracy: {title: "Test accuracy", axis: "Test accuracy per position", log: false, labelWidth: 54,
      text: (v) => v.toFixed(4)},
    error: {title: "Test error", axis: "Error per position", log: false, labelWidth: 54, text: (v) => v.toFixed(4)},
    "structure-error": {title: "Test error by structure", axis: "Error per structure", log: false, labelWidth: 54,
      text: (v) => v.toFixed(4)},
    "chunk-f1": {title: "Test F1 of chunks", axis: "F1 of chunks", log: false, labelWidth: 54,
      text: (v) => v.toFixed(4)},
    gap: {title: "Certified relative gap", axis: "(f − lower bound) / f", log: true, labelWidth: 46,
      text: (v) => v.toExponential(2)},
    dual: {title: "Dual suboptimality", axis: "(f* − lower bound) / f*", log: true, labelWidth: 46,
      text: (v) => v.toExponential(2)},
    "mean-gap": {title: "Certified gap", axis: "(f − lower bound) / n", log: true, labelWidth: 46,
      text: (v) => v.toExponential(2)},
    "gap-estimate": {title: "The solver's estimate of its gap", axis: "estimated gap / gap", log: true, labelWidth: 46,
      text: (v) => v.toPrecision(3)},
    "gap-infeasibility": {title: "Gap of the solver's dual point, and its infeasibility", axis: "(gap + infeasibility) / n",
      log: true, labelWidth: 46, text: (v) => v.toExponential(2)},
  };
  // Of each round of colours, as in the figures for print.
  const DASHES = [null, [8, 4], [2, 3], [8, 3, 2, 3], [14, 4]];
  const FAILED_DASH = [3, 5];
  const FLOOR_COLOUR = "#5f5f5f";
  // How much of a curve is seen where it says nothing.
  const FAINT = 0.25;
  // How far below the accuracy of f* curves go on, as in the figures for print.
  const SHOWN_BELOW_BOUND = 30;
  // A log axis of at most this many decades has ticks within each.
  const FEW_DECADES = 2.5;
  // Median and band are computed at no more places than this.
  const MOST_GRID_POINTS = 600;
  const PRINT_WIDTH = 660;

  // ---- elements

  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  // A select of [value, text] pairs with a label around it; calls `changed` with the value.
  function labelledSelect(text, choices, value, changed) {
    const select = element("select");
    for (const [choice, shown] of choices) select.append(element("option", {value: choice}, shown));
    select.value = value;
    select.addEventListener("change", () => changed(select.value));
    return {label: element("label", {class: "choice"}, `${text} `, select), select};
  }

  function labelledCheck(text, checked, changed) {
    const box = element("input", {type: "checkbox"});
    box.checked = checked;
    box.addEventListener("change", () => changed(box.checked));
    return element("label", {class: "choice"}, box, ` ${text}`);
  }

  function button(text, pressed) {
    const made = element("button", {type: "button"}, text);
    made.addEventListener("click", pressed);
    return made;
  }

  // ---- numbers

  function withCommas(n) {
    return String(n).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  }

  // 10⁻⁴, or 0.01 to 1,000,000 written out.
  function powerOfTen(exponent) {
    if (exponent >= -2 && exponent <= 6)
      return exponent < 0 ? (10 ** exponent).toFixed(-exponent) : withCommas(10 ** exponent);
    return "10" + String(exponent).replace(/./g, (c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]);
  }

  function plainNumber(value) {
    const rounded = Number(value.toPrecision(10));
    if (value !== 0 && (Math.abs(value) < 1e-4 || Math.abs(value) >= 1e7)) return rounded.toExponential();
    return rounded.toLocaleString('en-US', {maximumFractionDigits: 10});
  }

  // Ticks of a log axis, as dygraphs takes them: a label a decade, or as many as fit; and others where there are few
  // decades.
  function logTicks(low, high, pixels, opts, graph, values) {
    const room = Math.max(2, Math.floor(pixels / opts("pixelsPerLabel")));
    const first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high) + 1e-9);
    if (Math.log10(high / low) > FEW_DECADES) {
      const step = Math.ceil((last - first + 1) / room);
      const ticks = [];
      for (let e = first; e <= last; ++e)
        ticks.push({v: 10 ** e, label: (e - first) % step === 0 ? powerOfTen(e) : ""});
      return ticks;
    }
    for (const digits of [[1, 2, 3, 4, 5, 6, 8], [1, 2, 5], [1, 3], [1]]) {
      const ticks = [];
      for (let e = first - 1; e <= last; ++e)
        for (const digit of digits) {
          const v = digit * 10 ** e;
          if (v >= low && v <= high) ticks.push({v, label: plainNumber(v)});
        }
      if (ticks.length >= 2 && ticks.length <= room) return ticks;
    }
    return Dygraph.numericTicks(low, high, pixels, (name) => (name === "logscale" ? false : opts(name)), graph, values);
  }

  // ---- curves

  // The place of the last number <= x in an ascending list; -1: none.
  function lastAtMost(list, x) {
    let low = 0, high = list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (list[middle] <= x) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  // What a run measured: {x, y}, ascending in x.
  function measured(run, state) {
    const points = {x: [], y: []};
    const values = run[state.quantity] ?? [], at = run[state.x] ?? [];
    values.forEach((y, i) => {
      const x = at[i] ?? null;
      if (y === null || x === null) return;
      points.x.push(x);
      points.y.push(y);
    });
    return points;
  }

  // Of a step function: the value of the last sample, also after the end of the run.
  function valueAt(points, x) {
    const at = lastAtMost(points.x, x);
    return at < 0 ? null : points.y[at];
  }

  // Of ascending numbers, linear between them.
  function quantile(sorted, share) {
    const at = share * (sorted.length - 1), below = Math.floor(at);
    const above = Math.min(below + 1, sorted.length - 1);
    return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
  }

  // Median and quartiles of step functions, where all of them have begun.
  function medianBand(all) {
    let grid = [...new Set(all.flatMap((points) => points.x))].sort((a, b) => a - b);
    const stride = Math.ceil(grid.length / MOST_GRID_POINTS);
    grid = grid.filter((x, i) => i % stride === 0 || i === grid.length - 1);
    const band = {x: [], y: [], low: [], high: []};
    for (const x of grid) {
      const values = all.map((points) => valueAt(points, x));
      if (values.includes(null)) continue;
      values.sort((a, b) => a - b);
      band.x.push(x);
      band.y.push(quantile(values, 0.5));
      band.low.push(quantile(values, 0.25));
      band.high.push(quantile(values, 0.75));
    }
    return band;
  }

  function isShown(run, state) {
    return !state.hidden.has(run.curve) && (!run.failed || state.failed) &&
        (run.comparable || state.x !== "seconds" || state.uncomparable);
  }

  // The columns of the chart: {name, curve, points, width, failed}. A median is never taken over runs that failed, or
  // over timings that can be compared and such that cannot.
  function columnsOf(group, state) {
    const sets = new Map();
    for (const run of group.runs) {
      if (!isShown(run, state)) continue;
      const alone = state.repetitions === "each" || run.failed;
      const kind = state.x !== "seconds" || run.comparable ? "" : "not comparable";
      const key = [run.curve, kind, run.failed, alone ? run.repetition : ""].join("|");
      if (!sets.has(key)) sets.set(key, {curve: run.curve, failed: run.failed, runs: []});
      sets.get(key).runs.push(measured(run, state));
    }
    const columns = [];
    for (const [name, set] of sets) {
      const points = set.runs.length > 1 ? medianBand(set.runs) : set.runs[0];
      if (points.x.length > 0) columns.push({name, curve: set.curve, failed: set.failed, points});
    }
    const lines = columns.map((column) => column.curve);
    for (const column of columns)
      column.width = lines.filter((curve) => curve === column.curve).length > 1 ? 1.1 : 2.2;
    return columns;
  }

  // Rows [x, [low, middle, high], ...] as dygraphs takes them: null where a curve has no sample, NaN where its value
  // cannot be shown.
  function rowsOf(columns, floor, log_x) {
    const xs = [...new Set(columns.flatMap((column) => column.points.x))].filter((x) => !log_x || x > 0);
    xs.sort((a, b) => a - b);
    const row_of = new Map(xs.map((x, i) => [x, i]));
    const rows = xs.map((x) => [x, ...columns.map(() => null)]);
    columns.forEach((column, c) => {
      const {x, y, low = y, high = y} = column.points;
      x.forEach((at, i) => {
        const row = row_of.get(at);
        if (row === undefined) return;
        // A band that goes below what can be shown is drawn down to there.
        rows[row][c + 1] = y[i] > floor ? [Math.max(low[i], floor), y[i], high[i]] : [NaN, NaN, NaN];
      });
    });
    return rows;
  }

  function hasValues(rows) {
    return rows.some((row) => row.some((cell, c) => c > 0 && cell !== null && !Number.isNaN(cell[1])));
  }

  // ---- a chart

  class Chart {
    constructor(figure) {
      this.figure = figure;
      this.data = JSON.parse(figure.querySelector("script").textContent);
      this.graph = null;
      this.columns = [];
      const first = this.data.groups[0];
      this.state = {
        dataset: first.dataset, penalty: first.penalty,
        quantity: this.data.start.quantity, x: this.data.start.x, log_x: this.data.start.log_x,
        repetitions: this.hasRepetitions() ? "median" : "each",
        uncomparable: false, failed: false, hidden: new Set(),
      };
      if (!this.quantities().includes(this.state.quantity)) this.state.quantity = this.quantities()[0];
      this.build();
      this.redraw();
    }

    // ---- what there is

    runs() {
      return this.data.groups.flatMap((group) => group.runs);
    }

    // Those that some run measured.
    quantities() {
      const isMeasured = (name) => this.runs().some((run) => name in run);
      const found = Object.keys(QUANTITIES).filter(isMeasured);
      return found.length > 0 ? found : ["objective"];
    }

    hasRepetitions() {
      return this.runs().some((run) => run.repetition > 1);
    }

    penalties() {
      return this.data.groups.filter((group) => group.dataset === this.state.dataset).map((group) => group.penalty);
    }

    group() {
      return this.data.groups.find((group) =>
        group.dataset === this.state.dataset && group.penalty === this.state.penalty);
    }

    quantity() {
      return QUANTITIES[this.state.quantity];
    }

    // What a relative difference of 1 is on the vertical axis.
    unit() {
      return this.state.quantity === "suboptimality" ? this.group().unit ?? 1 : 1;
    }

    floor() {
      if (this.quantity().toReference)
        return Math.max(this.data.floor, (this.group().bound ?? 0) / SHOWN_BELOW_BOUND) * this.unit();
      return this.state.quantity === "gap" ? this.data.floor : this.quantity().log ? 0 : -Infinity;
    }

    // ---- controls

    build() {
      this.title = element("p", {class: "chart-title"});
      this.plot = element("div", {class: "plot", tabindex: "0", role: "application", "aria-label":
        "Chart. Left and right arrows read the curves off, plus and minus zoom, 0 resets the zoom."});
      this.cursor = element("div", {class: "cursor", hidden: ""});
      this.message = element("p", {class: "message", hidden: ""});
      this.notes = element("figcaption");
      this.frame = element("div", {class: "frame"}, this.plot, this.cursor, this.message);
      this.figure.append(this.controls(), this.title,
        element("div", {class: "drawing"}, this.frame, this.legend()), this.notes);
      this.plot.addEventListener("keydown", (event) => this.keyPressed(event));
    }

    controls() {
      const bar = element("div", {class: "controls"});
      const datasets = [...new Set(this.data.groups.map((group) => group.dataset))];
      const several = (choices) => choices.length > 1;
      const pairs = (values) => values.map((value) => [value, value]);
      if (several(datasets))
        bar.append(labelledSelect("Data", pairs(datasets), this.state.dataset, (v) => this.chooseDataset(v)).label);
      const penalty = labelledSelect("Penalty", pairs(this.penalties()), this.state.penalty, (v) => {
        this.state.penalty = v;
        this.redraw();
      });
      this.penaltySelect = penalty.select;
      penalty.select.dataset.role = "penalty";
      if (several([...new Set(this.data.groups.map((group) => group.penalty))])) bar.append(penalty.label);
      bar.append(labelledSelect("Show", this.quantities().map((name) => [name, QUANTITIES[name].title]),
        this.state.quantity, (v) => {
          this.state.quantity = v;
          this.redrawOtherAxes(true);
        }).label);
      bar.append(labelledSelect("against", Object.keys(AXES).map((name) => [name, name]), this.state.x, (v) => {
        this.state.x = v;
        this.redrawOtherAxes(false);
      }).label);
      bar.append(labelledCheck("log axis", this.state.log_x, (on) => {
        this.state.log_x = on;
        this.redrawOtherAxes(false);
      }));
      if (this.hasRepetitions())
        bar.append(labelledSelect("Repetitions", [["median", "median and 25–75 %"], ["each", "each a line"]],
          this.state.repetitions, (v) => {
            this.state.repetitions = v;
            this.redraw();
          }).label);
      if (this.runs().some((run) => !run.comparable))
        bar.append(labelledCheck("show timings that are not comparable", false, (on) => {
          this.state.uncomparable = on;
          this.redraw();
        }));
      if (this.runs().some((run) => run.failed))
        bar.append(labelledCheck("show runs that failed", false, (on) => {
          this.state.failed = on;
          this.redraw();
        }));
      this.resetButton = button("Reset zoom", () => this.resetZoom());
      bar.append(this.resetButton);
      return bar;
    }

    chooseDataset(dataset) {
      this.state.dataset = dataset;
      const penalties = this.penalties();
      this.penaltySelect.replaceChildren(...penalties.map((v) => element("option", {value: v}, v)));
      if (!penalties.includes(this.state.penalty)) this.state.penalty = penalties[0];
      this.penaltySelect.value = this.state.penalty;
      this.redraw();
    }

    // The check boxes of the solvers, which are the legend as well: beside each stands what is read off.
    legend() {
      this.place = element("span", {class: "place"});
      const box = element("fieldset", {class: "solvers"}, element("legend", {}, "Solvers"));
      this.values = this.data.curves.map((curve, i) => {
        const value = element("output", {class: "value"});
        const check = element("input", {type: "checkbox"});
        check.checked = true;
        check.addEventListener("change", () => {
          if (check.checked) this.state.hidden.delete(i);
          else this.state.hidden.add(i);
          this.redraw();
        });
        const name = element("span", {class: "name"}, curve.name);
        const row = element("label", {}, check, swatch(curve), name, value);
        box.append(row);
        return {row, value, check};
      });
      const all = (checked) => {
        this.values.forEach(({check}, i) => {
          check.checked = checked;
          if (checked) this.state.hidden.delete(i);
          else this.state.hidden.add(i);
        });
        this.redraw();
      };
      box.append(element("div", {class: "all"}, button("All", () => all(true)), button("None", () => all(false))),
        this.place);
      return box;
    }

    // ---- drawing

    // Rows, names and looks of what is shown now.
    drawn() {
      this.columns = columnsOf(this.group(), this.state);
      const series = {};
      for (const column of this.columns) {
        const curve = this.data.curves[column.curve];
        series[column.name] = {
          color: curve.colour, strokeWidth: column.width,
          strokePattern: column.failed ? FAILED_DASH : DASHES[curve.round % DASHES.length],
        };
      }
      return {
        file: rowsOf(this.columns, this.floor(), this.state.log_x),
        labels: ["x", ...this.columns.map((column) => column.name)], series,
      };
    }

    // After a change of what is shown on the same axes: the zoom stays.
    redraw() {
      this.describe();
      this.unread();
      const drawn = this.drawn();
      const present = new Set(this.columns.map((column) => column.curve));
      this.values.forEach(({row}, i) => row.classList.toggle("absent", !present.has(i)));
      const any = hasValues(drawn.file);
      this.message.hidden = any;
      this.plot.classList.toggle("empty", !any);
      if (!any) {
        this.message.textContent = this.state.hidden.size === this.data.curves.length ?
          "No solver is chosen." : "Nothing to draw here.";
        return;
      }
      if (this.graph) this.graph.updateOptions(drawn);
      else this.create(drawn, null);
      this.zoomed();
    }

    // After a change of an axis, which dygraphs takes only when it makes a chart.
    redrawOtherAxes(keep_x) {
      const window = keep_x && this.graph && this.graph.isZoomed("x") ? this.graph.xAxisRange() : null;
      this.discard();
      this.redraw();
      if (window && this.graph) this.graph.updateOptions({dateWindow: window});
      this.zoomed();
    }

    discard() {
      if (this.graph) this.graph.destroy();
      this.graph = null;
      this.figure.graph = null;
    }

    create(drawn, window) {
      const log_y = this.quantity().log;
      const linear = (low, high, ...more) => Dygraph.numericTicks(low, high, ...more);
      this.graph = new Dygraph(this.plot, drawn.file, {
        labels: drawn.labels, series: drawn.series, dateWindow: window,
        // A value holds up to the next sample, as in the figures for print.
        stepPlot: true, xRangePad: 3,
        customBars: true, connectSeparatedPoints: true, legend: "never", fillAlpha: 0.16,
        xlabel: AXES[this.state.x], ylabel: this.quantity().axis, xLabelHeight: 20, yLabelWidth: 20,
        axes: {
          x: {logscale: this.state.log_x, ticker: this.state.log_x ? logTicks : linear, pixelsPerLabel: 70,
            axisLabelFormatter: plainNumber, axisLabelWidth: 70},
          y: {logscale: log_y, ticker: log_y ? logTicks : linear, pixelsPerLabel: 34,
            axisLabelFormatter: plainNumber, axisLabelWidth: this.quantity().labelWidth},
        },
        yRangePad: 14, gridLineColor: "#e3e3e3", axisLineColor: "#777", axisLabelFontSize: 13,
        highlightCircleSize: 4, interactionModel: interaction(),
        plotter: [Dygraph.Plotters.errorPlotter, Dygraph.Plotters.linePlotter].map(
          (draw) => (part) => this.drawCurve(draw, part)),
        underlayCallback: (context, area, graph) => this.drawFloor(context, area, graph),
        highlightCallback: (event, x) => this.read(x),
        unhighlightCallback: () => this.unread(),
        drawCallback: () => {
          this.unread();
          this.zoomed();
        },
      });
      this.figure.graph = this.graph;  // for whoever looks at the page by script
    }

    // The accuracy to which f* is known, where that is in view; else null.
    bound(graph) {
      if (!this.quantity().toReference || this.group().bound === null) return null;
      const bound = this.group().bound * this.unit();
      return bound > graph.yAxisRange(0)[0] ? bound : null;
    }

    // Below the accuracy of f* faint.
    drawCurve(draw, part) {
      const bound = this.bound(part.dygraph), area = part.plotArea, context = part.drawingContext;
      if (bound === null) return draw(part);
      const y = Math.max(area.y, part.dygraph.toDomYCoord(bound, 0));
      for (const [top, bottom, alpha] of [[area.y, y, 1], [y, area.y + area.h, FAINT]]) {
        context.save();
        context.beginPath();
        context.rect(area.x, top, area.w, bottom - top);
        context.clip();
        context.globalAlpha = alpha;
        draw(part);
        context.restore();
      }
    }

    // The accuracy to which f* is known: what lies below says nothing.
    drawFloor(context, area, graph) {
      const bound = this.bound(graph);
      if (bound === null) return;
      const high = graph.yAxisRange(0)[1];
      const y = Math.max(area.y, graph.toDomYCoord(bound, 0));
      context.save();
      context.fillStyle = "rgba(95, 95, 95, 0.08)";
      context.fillRect(area.x, y, area.w, area.y + area.h - y);
      context.strokeStyle = context.fillStyle = FLOOR_COLOUR;
      context.font = "12px system-ui, sans-serif";
      if (bound < high) {
        context.setLineDash([6, 4]);
        context.lineWidth = 1.5;
        context.beginPath();
        context.moveTo(area.x, y);
        context.lineTo(area.x + area.w, y);
        context.stroke();
      }
      const above = area.y + area.h - y < 20;  // no room below
      const text = bound < high ? "accuracy of f*" : "all below the accuracy of f*";
      context.fillText(text, area.x + 8, above ? y - 6 : y + 15);
      context.restore();
    }

    describe() {
      const group = this.group();
      this.title.replaceChildren(...(group.synthetic ? [element("strong", {}, "SYNTHETIC DATA: ")] : []),
        `${this.quantity().title}: ${group.dataset}, ${group.penalty}`);
      const notes = [...group.notes, "A value holds up to the next sample: nothing is known of what lies between."];
      if (this.quantity().toReference) {
        notes.push(...group.objective_notes);
        if (group.bound !== null)
          notes.push("On grey ground, below the accuracy to which f* is known, curves say nothing and are faint.");
      }
      if (this.state.quantity === "nnz") notes.push("Nothing is drawn while no weight differs from zero.");
      if (this.hasRepetitions() && this.state.repetitions === "median")
        notes.push("Line: median of the repetitions; band: 25 % to 75 % of them. Between its samples, and after its " +
          "end, a repetition keeps its last value.");
      this.notes.replaceChildren(...notes.map((note) => element("p", {}, note)),
        element("p", {class: "screen"}, "Drag over the chart (or pinch) to zoom; a double click resets."));
    }

    // ---- reading off

    read(x) {
      this.place.textContent = `${this.state.x}: ${plainNumber(Number(x.toPrecision(6)))}`;
      this.values.forEach(({value}, i) => {
        const read = this.columns.filter((column) => column.curve === i)
          .map((column) => valueAt(column.points, x)).filter((v) => v !== null);
        const low = Math.min(...read), high = Math.max(...read), text = this.quantity().text;
        value.textContent = read.length === 0 ? "–" : low === high ? text(low) : `${text(low)} – ${text(high)}`;
      });
      const left = this.left(x), area = this.graph.getArea();
      this.cursor.hidden = left < area.x || left > area.x + area.w;
      this.cursor.style.left = `${left}px`;
      this.cursor.style.top = `${area.y}px`;
      this.cursor.style.height = `${area.h}px`;
    }

    // Where x stands in the chart, in pixels; graph.toDomXCoord() knows no log axis.
    left(x) {
      const area = this.graph.getArea();
      return area.x + this.graph.toPercentXCoord(x) * area.w;
    }

    unread() {
      this.cursor.hidden = true;
      this.place.textContent = "";
      for (const {value} of this.values) value.textContent = "";
    }

    keyPressed(event) {
      const keys = {ArrowLeft: () => this.step(-1), ArrowRight: () => this.step(1), "+": () => this.zoomBy(0.5),
        "-": () => this.zoomBy(2), 0: () => this.resetZoom(), Escape: () => this.graph.clearSelection()};
      if (!this.graph || !(event.key in keys) || event.ctrlKey || event.metaKey || event.altKey) return;
      keys[event.key]();
      event.preventDefault();
    }

    // Moves the reading line by a fiftieth of what is in view.
    step(direction) {
      const area = this.graph.getArea(), rows = this.graph.numRows();
      const from = this.graph.getSelection();
      let row = from < 0 ? (direction > 0 ? -1 : rows) : from;
      const start = from < 0 ? null : this.left(this.graph.getValue(from, 0));
      for (row += direction; row >= 0 && row < rows; row += direction) {
        const at = this.left(this.graph.getValue(row, 0));
        const inside = at >= area.x && at <= area.x + area.w;
        if (inside && (start === null || Math.abs(at - start) >= area.w / 50)) break;
      }
      if (row >= 0 && row < rows) this.graph.setSelection(row, undefined, false, true);
    }

    // ---- zoom

    // Shows the middle of the x axis, `factor` times as wide, within where the data are.
    zoomBy(factor) {
      const log = this.state.log_x;
      const from = log ? Math.log10 : (v) => v, to = log ? (v) => 10 ** v : (v) => v;
      const [low, high] = this.graph.xAxisRange().map(from), [least, most] = this.graph.xAxisExtremes().map(from);
      const middle = (low + high) / 2, half = factor * (high - low) / 2;
      const window = [Math.max(least, middle - half), Math.min(most, middle + half)];
      if (window[0] <= least && window[1] >= most) this.resetZoom();
      else this.graph.updateOptions({dateWindow: window.map(to)});
      this.zoomed();
    }

    resetZoom() {
      if (this.graph) this.graph.resetZoom();
      this.zoomed();
    }

    zoomed() {
      this.resetButton.disabled = !(this.graph && this.graph.isZoomed());
    }

    // The print style applies the zoom; drawing anew would be too late for what is printed.
    fitPaper() {
      const {width, height} = this.plot.querySelector("canvas") ? this.graph.size() : {width: PRINT_WIDTH, height: 0};
      this.frame.style.setProperty("--paper-zoom", String(PRINT_WIDTH / width));
      this.frame.style.setProperty("--drawn-width", `${width}px`);
      this.frame.style.setProperty("--drawn-height", `${height}px`);
    }
  }

  function swatch(curve) {
    const style = ["solid", "dashed", "dotted"][Math.min(curve.round, 2)];
    const made = element("span", {class: "swatch", "aria-hidden": "true"});
    made.style.borderTop = `3px ${style} ${curve.colour}`;
    return made;
  }

  // One finger reads off and scrolls the page, two zoom.
  function interaction() {
    const usual = Dygraph.defaultInteractionModel;
    let pinching = false;
    return {
      ...usual,
      touchstart: (event, graph, context) => {
        pinching = event.touches.length > 1;
        if (pinching) usual.touchstart(event, graph, context);
      },
      touchmove: (event, graph, context) => {
        if (pinching) usual.touchmove(event, graph, context);
      },
      touchend: (event, graph, context) => {
        if (pinching) usual.touchend(event, graph, context);
        pinching = pinching && event.touches.length > 1;
      },
    };
  }

  // ---- tables

  // "(1,234)", "-50.0 %", "1.2e-05", "~1.20" as numbers, "2.50-3.10" by its lower end; null for what is none.
  function numberIn(text) {
    const value = parseFloat(text.replace(/[(,~]/g, ""));
    return Number.isNaN(value) ? null : value;
  }

  // Cells without a number ("-", "never", "?") stand last, whichever way the others go.
  function compareCells(a, b, numeric, direction) {
    const nothing = (text) => ["", "-", "never", "n/c", "?"].includes(text);
    if (nothing(a) || nothing(b)) return nothing(a) - nothing(b);
    const x = numberIn(a), y = numberIn(b);
    if (numeric && x !== null && y !== null) return direction * (x - y);
    return direction * a.localeCompare(b, "en", {numeric: true});
  }

  function sortBy(table, column, head) {
    const direction = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
    const text = (row) => row.cells[column].textContent.trim();
    const rows = [...table.tBodies[0].rows];
    rows.sort((a, b) => compareCells(text(a), text(b), head.classList.contains("number"), direction));
    table.tBodies[0].append(...rows);
  }

  function makeSortable(table) {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const sort = element("button", {type: "button", class: "sort", title: "Sort by this column"});
      sort.append(...head.childNodes);
      sort.addEventListener("click", () => sortBy(table, column, head));
      head.append(sort);
    });
  }

  // ---- the page

  const charts = [...document.querySelectorAll("figure.chart")].map((figure) => new Chart(figure));
  for (const table of document.querySelectorAll("table")) if (table.tBodies[0].rows.length > 1) makeSortable(table);

  // On paper folded summaries are open, and charts keep what is drawn, enlarged or reduced to the width of the page.
  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details.printed:not([open])")];
    for (const details of opened) details.open = true;
    for (const chart of charts) chart.fitPaper();
  });
  window.addEventListener("afterprint", () => {
    for (const details of opened) details.open = false;
  });
})();
