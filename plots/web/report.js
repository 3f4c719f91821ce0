// The charts and the sortable tables of a report. A chart's figure contains its charts as JSON, in the format of
// charts() of plots/page.py. With the controls above it, the reader chooses which of them is drawn, and how much of it. Texts,
// styles and points come from there. Only ranges and ticks follow the view, since the reader zooms and hides curves.
"use strict";
(() => {
  const DASHES = [null, [8, 4], [2, 3], [8, 3, 2, 3], [14, 4]];
  const FAILED_DASH = [3, 5];
  const PRINT_WIDTH = 660;

  // Makes an element. Attributes that are functions become event handlers.
  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes))
      if (typeof value === "function") made[name] = value;
      else made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  function plainNumber(value) {
    const rounded = Number(value.toPrecision(10));
    if (value !== 0 && (Math.abs(value) < 1e-4 || Math.abs(value) >= 1e7)) return rounded.toExponential();
    return rounded.toLocaleString("en-US", {maximumFractionDigits: 10});
  }

  function power(exponent) {
    return `10${[...String(exponent)].map((c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)])).join("")}`;
  }

  // Powers of ten, or 1, 2 and 5 times them if they fit, in the format of dygraphs.
  function logTicks(low, high, pixels, opts, graph, values) {
    const room = Math.max(2, Math.floor(pixels / opts("pixelsPerLabel")));
    const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
    const ticks = (digits, step) => {
      const made = [];
      for (let k = first; k <= last; ++k)
        for (const digit of k % step === 0 ? digits : []) {
          const v = Number(`${digit}e${k}`), plain = low >= 1e-4 && high < 1e7;
          if (v >= low && v <= high) made.push({v, label: plain ? plainNumber(v) : (digit > 1 ? `${digit}×` : "") + power(k)});
        }
      return made;
    };
    const options = [ticks([1, 2, 5], 1), ...[1, 2, 4, 8].map((step) => ticks([1], step))];
    return options.find((made) => made.length >= 2 && made.length <= room) ??
      Dygraph.numericTicks(low, high, pixels, (name) => (name === "logscale" ? false : opts(name)), graph, values);
  }

  // ---- a chart

  class Chart {
    constructor(figure) {
      this.figure = figure;
      this.data = JSON.parse(figure.querySelector("script").textContent);
      this.state = {...this.data.start, group: this.data.groups[0].name,
        repetitions: this.data.repetitions ? "median" : "each", uncomparable: false, failed: false};
      this.controls = element("div", {class: "controls"});
      this.title = element("p", {class: "chart-title"});
      this.plot = element("div", {class: "plot", tabindex: "0", role: "application", "aria-label":
        "Chart. Left and right arrows read the curves off, plus and minus zoom, 0 resets the zoom."});
      this.plot.addEventListener("keydown", (event) => this.keyPressed(event));
      this.cursor = element("div", {class: "cursor", hidden: ""});
      this.message = element("p", {class: "message", hidden: ""});
      this.frame = element("div", {class: "frame"}, this.plot, this.cursor, this.message);
      this.notes = element("figcaption");
      this.addControls();
      this.figure.append(this.controls, this.title,
        element("div", {class: "drawing"}, this.frame, this.legend()), this.notes);
      this.redraw();
    }

    // ---- controls

    addControls() {
      const {groups, quantities, axes, repetitions} = this.data;
      const same = (list) => list.map((value) => [value, value]);
      if (groups.length > 1) this.addControl("group", "Penalty", same(groups.map((group) => group.name)));
      this.addControl("quantity", "Show", quantities);
      this.addControl("x", "against", same(axes));
      this.addControl("log_x", "log axis");
      if (repetitions)
        this.addControl("repetitions", "Repetitions", [["median", "median and 25–75 %"], ["each", "each a line"]]);
      if (this.data.uncomparable) this.addControl("uncomparable", "show timings that are not comparable");
      if (this.data.failed) this.addControl("failed", "show runs that failed");
      this.controls.append(
        element("button", {type: "button", onclick: () => this.graph?.resetZoom()}, "Reset zoom"));
    }

    // Adds a choice for a member of the state from [value, text] pairs, or a check box without pairs.
    addControl(member, text, pairs) {
      const property = pairs ? "value" : "checked";
      const onchange = (event) => {
        this.state[member] = event.target[property];
        this.redraw();
      };
      const control = pairs ?
        element("select", {onchange}, ...pairs.map(([value, shown]) => element("option", {value}, shown))) :
        element("input", {type: "checkbox", onchange});
      control[property] = this.state[member];
      this.controls.append(element("label", {class: "choice"}, ...(pairs ? [text, control] : [control, text])));
    }

    // The check boxes of the solvers. They are also the legend, and show the values that are read off.
    legend() {
      this.place = element("span", {class: "place"});
      this.solvers = this.data.series.map(({name, colour, dash}) => {
        const value = element("output", {class: "value"});
        const check = element("input", {type: "checkbox", checked: "", onchange: () => this.redraw()});
        const swatch = element("span", {class: "swatch", "aria-hidden": "true",
          style: `border-top: 3px ${["solid", "dashed", "dotted"][Math.min(dash, 2)]} ${colour}`});
        return {value, check, row: element("label", {}, check, swatch, element("span", {class: "name"}, name), value)};
      });
      const all = (text, shown) => element("button", {type: "button", onclick: () => {
        for (const {check} of this.solvers) check.checked = shown;
        this.redraw();
      }}, text);
      return element("fieldset", {class: "solvers"}, element("legend", {}, "Solvers"),
        ...this.solvers.map(({row}) => row),
        element("div", {class: "all"}, all("All", true), all("None", false)), this.place);
    }

    // ---- drawing

    // Returns the chart that the reader has chosen.
    chosen() {
      const {group, quantity, x, repetitions} = this.state;
      const {each, median = each} = this.data.groups.find(({name}) => name === group).panels[quantity][x];
      return repetitions === "each" ? each : median;
    }

    // Returns its curves that the reader has chosen, each with its points [x, low, y, high].
    shownCurves() {
      const {x, failed, uncomparable} = this.state;
      return this.panel.curves.map(({x: at, y, low = y, high = y, ...chosen}, i) => {
        const curve = this.data.series.findIndex(({name}) => name === chosen.series);
        const points = y.map((value, k) => [at[k], low[k], value, high[k]])
          .filter(([place, , value]) => place !== null && value !== null);
        return {...chosen, curve, name: `${curve}|${i}`, points};
      }).filter((curve) => curve.points.length > 0 && this.solvers[curve.curve].check.checked &&
        (!curve.failed || failed) && (curve.comparable || x !== "seconds" || uncomparable));
    }

    // Returns rows [x, [low, middle, high], ...] for dygraphs. An entry is null if a curve has no sample there, and NaN
    // if its value cannot be shown. A band that goes below the values that can be shown is drawn down to their limit.
    rows() {
      const floor = this.panel.floor ?? -Infinity;
      const rows = new Map();
      this.curves.forEach(({points}, c) => {
        for (const [x, low, middle, high] of points) {
          if (this.state.log_x && !(x > 0)) continue;
          if (!rows.has(x)) rows.set(x, [x, ...this.curves.map(() => null)]);
          rows.get(x)[c + 1] = middle > floor ? [Math.max(low, floor), middle, high] : [NaN, NaN, NaN];
        }
      });
      return [...rows.values()].sort((a, b) => a[0] - b[0]);
    }

    // dygraphs can change axes only by making a new chart. The zoom stays if the x axis is the same.
    redraw() {
      const {quantity, x, log_x} = this.state, x_axis = `${x} ${log_x}`;
      const window = x_axis === this.x_axis && this.graph?.isZoomed("x") ? this.graph.xAxisRange() : null;
      const panel = this.panel = this.chosen();
      this.title.replaceChildren(element("strong", {}, panel.warning), panel.title);
      this.notes.replaceChildren(...panel.notes.split("\n").filter(Boolean).map((note) => element("p", {}, note)),
        element("p", {class: "screen"}, "Drag over the chart (or pinch) to zoom; a double click resets."));
      this.unread();
      this.curves = this.shownCurves();
      const file = this.rows(), series = {};
      for (const {name, curve, width, failed} of this.curves) {
        const {colour, dash} = this.data.series[curve];
        series[name] = {color: colour, strokeWidth: width, strokePattern: failed ? FAILED_DASH : DASHES[dash]};
      }
      this.solvers.forEach(({row}, i) =>
        row.classList.toggle("absent", !this.curves.some((curve) => curve.curve === i)));
      const any = file.some((row) => row.some((cell, c) => c > 0 && cell !== null && !Number.isNaN(cell[1])));
      this.message.hidden = any;
      this.plot.classList.toggle("empty", !any);
      this.message.textContent =
        this.solvers.some(({check}) => check.checked) ? "Nothing to draw here." : "No solver is chosen.";
      if (this.quantity !== quantity || this.x_axis !== x_axis) {
        this.graph?.destroy();
        this.graph = this.figure.graph = null;
      }
      Object.assign(this, {quantity, x_axis});
      const drawn = {file, labels: ["x", ...this.curves.map(({name}) => name)], series};
      if (any && this.graph) this.graph.updateOptions(drawn);
      else if (any) this.create({...drawn, dateWindow: window});
    }

    create({file, ...options}) {
      const {panel} = this, {log_x} = this.state;
      const axis = (log, pixelsPerLabel, axisLabelWidth) => ({logscale: log, pixelsPerLabel, axisLabelWidth,
        ticker: log ? logTicks : Dygraph.numericTicks, axisLabelFormatter: plainNumber});
      this.graph = new Dygraph(this.plot, file, {
        ...options, axes: {x: axis(log_x, 70, 70), y: axis(panel.log, 34, panel.count ? 70 : 54)},
        // A value holds up to the next sample, as in the figures for print.
        stepPlot: true, xRangePad: 3, yRangePad: 14,
        customBars: true, connectSeparatedPoints: true, legend: "never", fillAlpha: 0.16,
        xlabel: panel.x, ylabel: panel.y, xLabelHeight: 20, yLabelWidth: 20,
        gridLineColor: "#e3e3e3", axisLineColor: "#777", axisLabelFontSize: 13,
        highlightCircleSize: 4, interactionModel: interaction(),
        highlightCallback: (event, at) => this.read(at),
        unhighlightCallback: () => this.unread(),
        drawCallback: (graph) => {
          this.drawGround(graph, graph.getArea(), graph.hidden_ctx_);
          this.unread();
        },
      });
      this.figure.graph = this.graph;  // for whoever looks at the page by script
    }

    // Below the accuracy of f* curves are faint, on a grey ground.
    drawGround(graph, area, context) {
      const {bound} = this.panel, bottom = area.y + area.h;
      if (bound === null || bound <= graph.yAxisRange(0)[0]) return;
      const y = Math.max(area.y, graph.toDomYCoord(bound, 0));
      context.save();
      for (const veil of ["rgba(255, 255, 255, 0.75)", "rgba(95, 95, 95, 0.08)"]) {
        context.fillStyle = veil;
        context.fillRect(area.x, y, area.w, bottom - y);
      }
      context.fillStyle = "#5f5f5f";
      if (y > area.y)
        for (let x = area.x; x < area.x + area.w; x += 10) context.fillRect(x, y - 0.75, 6, 1.5);
      context.font = "12px system-ui, sans-serif";
      context.fillText(y > area.y ? "accuracy of f*" : "all below the accuracy of f*", area.x + 8,
        bottom - y < 20 ? y - 6 : y + 15);
      context.restore();
    }

    // ---- reading off

    read(x) {
      const {count, log} = this.panel;
      const text = (value) =>
        count ? Math.round(value).toLocaleString("en-US") : log ? value.toExponential(2) : value.toFixed(4);
      this.place.textContent = `${this.state.x}: ${plainNumber(Number(x.toPrecision(6)))}`;
      this.solvers.forEach(({value}, i) => {
        const before = this.curves.filter(({curve}) => curve === i)
          .map(({points}) => points.filter(([at]) => at <= x).at(-1)).filter((point) => point !== undefined);
        const texts = before.map(([, , y]) => y).sort((a, b) => a - b).map(text);
        value.textContent = [...new Set([texts.at(0) ?? "–", texts.at(-1) ?? "–"])].join(" – ");
      });
      const left = this.left(x), area = this.graph.getArea();
      this.cursor.hidden = left < area.x || left > area.x + area.w;
      Object.assign(this.cursor.style, {left: `${left}px`, top: `${area.y}px`, height: `${area.h}px`});
    }

    // Returns the position of x in the chart, in pixels. graph.toDomXCoord() does not support log axes.
    left(x) {
      const area = this.graph.getArea();
      return area.x + this.graph.toPercentXCoord(x) * area.w;
    }

    unread() {
      this.cursor.hidden = true;
      this.place.textContent = "";
      for (const {value} of this.solvers) value.textContent = "";
    }

    keyPressed(event) {
      const keys = {ArrowLeft: () => this.step(-1), ArrowRight: () => this.step(1), "+": () => this.zoomBy(0.5),
        "-": () => this.zoomBy(2), 0: () => this.graph.resetZoom(), Escape: () => this.graph.clearSelection()};
      if (!this.graph || !(event.key in keys) || event.ctrlKey || event.metaKey || event.altKey) return;
      keys[event.key]();
      event.preventDefault();
    }

    // Moves the reading line to the next sample in view that is at least a fiftieth of the width away.
    step(direction) {
      const area = this.graph.getArea(), selected = this.graph.getSelection();
      const places = this.graph.file_.map(([x]) => this.left(x));
      const start = selected < 0 ? -Infinity * direction : places[selected];
      const far = (at) => at >= area.x && at <= area.x + area.w && (at - start) * direction >= area.w / 50;
      const row = direction > 0 ? places.findIndex(far) : places.findLastIndex(far);
      if (row >= 0) this.graph.setSelection(row, undefined, false, true);
    }

    // ---- zoom

    // Shows the middle of the x axis, `factor` times as wide, within the range of the data.
    zoomBy(factor) {
      const [from, to] = this.state.log_x ? [Math.log10, (v) => 10 ** v] : [(v) => v, (v) => v];
      const [low, high] = this.graph.xAxisRange().map(from), [least, most] = this.graph.xAxisExtremes().map(from);
      const middle = (low + high) / 2, half = factor * (high - low) / 2;
      const window = [Math.max(least, middle - half), Math.min(most, middle + half)];
      if (window[0] <= least && window[1] >= most) this.graph.resetZoom();
      else this.graph.updateOptions({dateWindow: window.map(to)});
    }

    // The print style applies the zoom. Drawing again would come too late for the printed page.
    fitPaper() {
      const {width, height} = this.graph?.size() ?? {width: PRINT_WIDTH, height: 0};
      this.frame.style =
        `--paper-zoom: ${PRINT_WIDTH / width}; --drawn-width: ${width}px; --drawn-height: ${height}px`;
    }
  }

  // One finger reads off values and scrolls the page; two fingers zoom.
  function interaction() {
    const usual = Dygraph.defaultInteractionModel;
    let pinching = false;
    const pinched = (handler, begins) => (event, graph, context) => {
      if (begins) pinching = event.touches.length > 1;
      if (pinching) usual[handler](event, graph, context);
      pinching = event.touches.length > 1;
    };
    return {...usual, touchstart: pinched("touchstart", true), touchmove: pinched("touchmove", false),
      touchend: pinched("touchend", false)};
  }

  // ---- tables

  // Compares "(1,234)", "-50.0 %", "1.2e-05" and "~1.20" as numbers, and "2.50-3.10" by its lower end. Cells without a
  // number ("-", "never", "?") come last in both directions.
  function compareCells(a, b, numeric, direction) {
    const nothing = (text) => ["", "-", "never", "n/c", "?"].includes(text);
    if (nothing(a) || nothing(b)) return nothing(a) - nothing(b);
    const difference = numeric ? parseFloat(a.replace(/[(,~]/g, "")) - parseFloat(b.replace(/[(,~]/g, "")) : NaN;
    return direction * (Number.isNaN(difference) ? a.localeCompare(b, "en", {numeric: true}) : difference);
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

  for (const table of document.querySelectorAll("table")) {
    if (table.tBodies[0].rows.length < 2) continue;
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      head.append(element("button",
        {type: "button", class: "sort", title: "Sort by this column", onclick: () => sortBy(table, column, head)},
        ...head.childNodes));
    });
  }

  // ---- the page

  const charts = [...document.querySelectorAll("figure.chart")].map((figure) => new Chart(figure));

  // On paper, folded summaries are open. Charts keep their content, and are scaled to the width of the page.
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
