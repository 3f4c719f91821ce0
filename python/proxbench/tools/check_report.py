"""Tests the report page in a real browser.

Makes small results on generated data, makes a page from them, and uses it in headless Chromium as a reader would.
scripts/install-deps --browser installs what it needs.

Exit status: 0 all passed, 1 a test failed, 2 bad usage, 77 no browser or no python3 with Selenium is here.
"""
import base64
import json
import os
import shutil
import sys
import unittest
from pathlib import Path

from .common import SKIPPED, add_program, built, read_json, run, scratch

BROWSER, DRIVER = "chromium", "chromedriver"
HOSTILE = "</script><img src=http://example.invalid/x onerror=alert(1)>\"'&"
WIDE, NARROW = 1200, 400

CONFIG = """
[experiment]
name = {name}
title = Generated words: a test of the page
lambda = 1, 4
threads = 1
repetitions = 3
tol = 1e-6
max_iterations = 60
reference_tol = 1e-7
[data.words]
format = synthetic-ocr
features = pixels
words = 60
test_words = 20
[solver.prox-newton]
[solver.owl-qn]
[solver.prox-gd]
[plot]
quantities =
"""


def add_flags(parser):
    add_program(parser)
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the page, screenshots and a printed PDF there")
    parser.add_argument("--check", action="store_true", help="only tell whether the test has all it needs")


def make_results(program, folder, name):
    (folder / f"{name}.ini").write_text(CONFIG.format(name=name))
    run(program, "run", folder / f"{name}.ini", "--out", folder / name)
    return folder / name


def edit_manifests(results, edit):
    for file in sorted(results.glob("runs/*/manifest.json")):
        manifest = read_json(file)
        edit(manifest)
        file.write_text(json.dumps(manifest))


def spoil(manifest):
    """Adds a crash, timings that cannot be compared, a second machine, and names that try to inject HTML."""
    about = manifest["run"]
    if about["label"] == "prox-gd":
        about["label"] = HOSTILE
    if (about["label"], about["repetition"]) == ("owl-qn", 1):
        manifest.update(status="crashed(SIGSEGV)", reason="signal 11 " + HOSTILE)
    manifest["timing"].update(comparable=about["repetition"] != 3, not_comparable_because="shared processor")
    machine = "second" if about["repetition"] == 2 else "first"
    manifest["provenance"]["machine"].update(name=machine, cpu="a processor", cores=2, id=machine)
    manifest["provenance"]["program"]["version"] = "1 < 2"


def copy_results(results, name):
    copy = results.parent / name
    shutil.copytree(results, copy)
    config = copy / "config.ini"
    config.write_text(config.read_text().replace(f"name = {results.name}", f"name = {name}"))
    return copy


def write_traces(results):
    """Writes traces in which repetition r of prox-newton falls to 10^-r after r seconds. The other solvers go below f*
    for a second."""
    shutil.rmtree(results / "references")  # the manifests hold f* too
    for folder in results.glob("runs/*"):
        manifest = read_json(folder / "manifest.json")
        about = manifest["run"]
        repetition, best = about["repetition"], manifest["reference"]["objective"]
        differences = {0: 1.0, repetition: 10.0 ** -repetition}
        if about["label"] != "prox-newton":
            differences = {0: 1.0, 1: -1e-3, 2: 0.5}
        trace = folder / "trace.csv"
        lines = [trace.read_text().splitlines()[0]]
        for seconds, difference in differences.items():
            lines.append(f"{seconds},{seconds},{seconds},{seconds},{seconds},{best * (1 + difference)!r},1,5,5,,,,,,,")
        trace.write_text("\n".join(lines) + "\n")


def crash(manifest):
    manifest.update(status="crashed(SIGSEGV)", reason="signal 11")


def make_page(program, folder):
    plain = make_results(program, folder, "plain")
    spoilt = copy_results(plain, "spoilt")
    edit_manifests(spoilt, spoil)
    config = spoilt / "config.ini"  # it must list the solver, or its runs would be left out
    config.write_text(config.read_text().replace("[solver.prox-gd]", f"[solver.{HOSTILE}]"))
    edit_manifests(copy_results(plain, "crashed"), crash)
    write_traces(copy_results(plain, "exact"))
    page = folder / "page with #.html"
    run(program, "report", "--out", page, *(folder / name for name in ("plain", "spoilt", "crashed", "exact")),
        "--title", "A test <page>", "--note", "one & two")
    return page


def number_of(label):
    """The number of a tick: 1,500, 1.5e-7, or 2×10 with a raised exponent."""
    digits, _, power = label.replace(",", "").rpartition("×")
    raised = power[2:].translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    return float(digits or 1) * (10.0 ** int(raised) if raised != power[2:] else float(power))


def start_browser():
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    chrome = Options()
    chrome.binary_location = shutil.which(BROWSER)
    for argument in ("--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        chrome.add_argument(argument)
    if os.geteuid() == 0:
        chrome.add_argument("--no-sandbox")  # Chromium's sandbox refuses to run as root
    chrome.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(service=Service(shutil.which(DRIVER)), options=chrome)


class Page(unittest.TestCase):
    browser = None
    page = None
    keep = None

    def setUp(self):
        self.show(WIDE)

    def tearDown(self):
        said = [entry["message"] for entry in self.browser.get_log("browser")]
        self.assertEqual(said, [], "the console is silent")

    def cdp(self, command, **arguments):
        return self.browser.execute_cdp_cmd(command, arguments)

    def js(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def show(self, width):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1,
                 mobile=width == NARROW)
        self.browser.get(self.page.as_uri())

    def graph(self, expression, name="plain"):
        return self.js(f"const graph = document.getElementById('chart-{name}').graph; return {expression};")

    def one(self, selector, name="plain"):
        return self.browser.find_element("css selector", f"#chart-{name} {selector}")

    def choose(self, label, value, name="plain"):
        """Sets the select whose label begins with this text."""
        from selenium.webdriver.support.ui import Select
        for choice in self.browser.find_elements("css selector", f"#chart-{name} label.choice"):
            if choice.text.startswith(label):
                Select(choice.find_element("css selector", "select")).select_by_value(value)
                return
        self.fail(f"no control '{label}'")

    def tick(self, label, name="plain"):
        for row in self.browser.find_elements("css selector", f"#chart-{name} label"):
            if label in row.text:
                row.find_element("css selector", "input").click()
                return
        self.fail(f"no check box '{label}'")

    def has_check_box(self, label, name):
        rows = self.browser.find_elements("css selector", f"#chart-{name} label")
        return any(label in row.text for row in rows)

    def pixels(self, colour, name="plain"):
        """The number of pixels of the chart with this colour."""
        return self.js("""
            const wanted = arguments[1].match(/../g).map((digits) => parseInt(digits, 16));
            return Math.max(...[...document.querySelectorAll(`#chart-${arguments[0]} canvas`)].map((canvas) => {
              const copy = new OffscreenCanvas(canvas.width, canvas.height);
              const context = copy.getContext('2d', {willReadFrequently: true});
              context.drawImage(canvas, 0, 0);
              const data = context.getImageData(0, 0, copy.width, copy.height).data;
              let count = 0;
              for (let i = 0; i < data.length; i += 4)
                if (data[i + 3] > 200 && wanted.every((value, c) => Math.abs(data[i + c] - value) < 12)) ++count;
              return count;
            }));""", name, colour)

    def drag(self, start, end, name="plain"):
        """Drags over the chart, from and to these shares of its width."""
        from selenium.webdriver.common.action_chains import ActionChains
        plot = self.one(".plot", name)
        self.js("arguments[0].scrollIntoView({block: 'center'})", plot)
        width = plot.size["width"]
        actions = ActionChains(self.browser)
        actions.move_to_element_with_offset(plot, int((start - 0.5) * width), 0).click_and_hold()
        actions.move_by_offset(int((end - start) * width / 2), 2).move_by_offset(int((end - start) * width / 2), 0)
        actions.release().perform()

    def screenshot(self, name):
        if self.keep is None:
            return
        size = self.js("return [innerWidth, document.documentElement.scrollHeight]")
        clip = {"x": 0, "y": 0, "width": size[0], "height": min(size[1], 8000), "scale": 1}
        picture = self.cdp("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        (self.keep / name).write_bytes(base64.b64decode(picture["data"]))

    # ---- tests

    def test_it_loads_nothing_but_itself(self):
        self.browser.get_log("performance")
        self.show(WIDE)
        events = [json.loads(entry["message"])["message"] for entry in self.browser.get_log("performance")]
        urls = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
        self.assertEqual(set(urls), {self.page.as_uri()})
        self.assertEqual(self.js("return document.images.length"), 0, "names in the data make no elements")

    def test_every_solver_is_drawn_in_its_colour(self):
        for colour in ("0072B2", "D55E00", "009E73"):
            self.assertGreater(self.pixels(colour), 50, colour)
        self.assertEqual(self.graph("graph.getLabels().length"), 4, "x and a median a solver")
        self.assertTrue(self.one(".chart-title").text.startswith("SYNTHETIC DATA"))

    def test_the_solver_filter_keeps_the_zoom(self):
        self.drag(0.3, 0.6)
        window = self.graph("graph.isZoomed('x') ? graph.xAxisRange() : null")
        self.assertIsNotNone(window, "dragging zooms")
        self.tick("owl-qn")
        self.assertEqual(self.graph("graph.getLabels().length"), 3)
        self.assertEqual(self.graph("graph.xAxisRange()"), window)
        self.assertEqual(self.pixels("D55E00"), 0)
        self.tick("owl-qn")
        self.assertEqual(self.graph("graph.getLabels().length"), 4)

    def test_the_penalty_filter_and_the_quantity_keep_the_zoom(self):
        self.drag(0.3, 0.6)
        window = self.graph("graph.xAxisRange()")
        before = self.graph("graph.file_")
        self.choose("Penalty", "λ = 4")
        self.assertNotEqual(self.graph("graph.file_"), before)
        self.assertEqual(self.graph("graph.xAxisRange()"), window)
        self.assertIn("λ = 4", self.one(".chart-title").text)
        self.choose("Show", "nnz")
        self.assertEqual(self.graph("graph.xAxisRange()"), window)
        self.choose("against", "passes")
        self.assertFalse(self.graph("graph.isZoomed()"), "another axis, another range")

    def test_a_double_click_and_the_button_reset_the_zoom(self):
        from selenium.webdriver.common.action_chains import ActionChains
        reset = self.one(".controls button")
        self.drag(0.3, 0.6)
        ActionChains(self.browser).double_click(self.one(".plot")).perform()
        self.assertFalse(self.graph("graph.isZoomed()"))
        self.drag(0.3, 0.6)
        reset.click()
        self.assertFalse(self.graph("graph.isZoomed()"))

    def test_hovering_and_the_arrow_keys_read_the_values_off(self):
        from selenium.webdriver.common.action_chains import ActionChains
        from selenium.webdriver.common.keys import Keys

        def read():
            values = self.browser.find_elements("css selector", "#chart-plain .value")
            return [value.text for value in values]
        self.assertEqual(read(), ["", "", ""])
        ActionChains(self.browser).move_to_element(self.one(".plot")).perform()
        self.assertTrue(all("e" in value for value in read()), read())
        self.assertTrue(self.one(".place").text.startswith("seconds: "))
        self.assertTrue(self.one(".cursor").is_displayed())
        self.tick("log axis")
        ActionChains(self.browser).move_to_element(self.one(".plot")).move_by_offset(60, 0).perform()
        pointer = self.one(".plot").rect["x"] + self.one(".plot").rect["width"] / 2 + 60
        self.assertAlmostEqual(self.one(".cursor").rect["x"], pointer, delta=25, msg="the line follows the pointer")
        self.show(WIDE)
        self.one(".plot").send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
        first = read()
        self.assertTrue(all(first), first)
        self.one(".plot").send_keys(Keys.ARROW_RIGHT)
        self.assertNotEqual(read(), first)
        self.one(".plot").send_keys("+")
        self.assertTrue(self.graph("graph.isZoomed('x')"))
        self.one(".plot").send_keys("0")
        self.assertFalse(self.graph("graph.isZoomed()"))

    def test_axes_quantities_and_repetitions(self):
        self.choose("Repetitions", "each")
        self.assertEqual(self.graph("graph.getLabels().length"), 10)
        self.choose("Repetitions", "median")
        # Counts the colour of prox-gd, which is drawn last: a straight line may cover another one.
        for quantity in ("nnz", "accuracy", "suboptimality", "objective"):
            for axis in ("passes", "updates", "iterations", "seconds"):
                with self.subTest(quantity=quantity, axis=axis):
                    self.choose("Show", quantity)
                    self.choose("against", axis)
                    self.assertGreater(self.pixels("009E73"), 50)
        self.tick("log axis")
        self.assertGreater(self.pixels("009E73"), 50)
        self.assertGreater(self.graph("graph.xAxisRange()[0]"), 0)
        self.assertGreaterEqual(self.js(
            "return [...document.querySelectorAll('#chart-plain .dygraph-axis-label-x')]"
            ".filter((label) => label.textContent).length"), 3, "labels on the log axis")

    def test_medians_and_bands_are_those_of_step_functions(self):
        column = "graph.getLabels().indexOf(graph.getLabels().find((name) => name.startsWith('0|')))"
        rows = self.graph(f"graph.file_.map((row) => [row[0], row[{column}]])", "exact")
        expected = [(0, 1, 1, 1), (1, 0.55, 1, 1), (2, 0.055, 0.1, 0.55), (3, 0.0055, 0.01, 0.055)]
        self.assertEqual([row[0] for row in rows], [row[0] for row in expected])
        for (_, found), (_, *wanted) in zip(rows, expected):
            for value, right in zip(found, wanted):
                self.assertAlmostEqual(value, right, delta=1e-5 * right)

    def test_a_value_holds_up_to_the_next_sample(self):
        """The median is 0.1 from 2 s to 3 s, where it falls to 0.01."""
        def drawn_at(x, y):
            return self.graph(f"""(() => {{
              const [left, top] = graph.toDomCoords({x}, {y}), canvas = graph.hidden_;
              const scale = canvas.width / canvas.clientWidth, copy = new OffscreenCanvas(canvas.width, canvas.height);
              const context = copy.getContext("2d", {{willReadFrequently: true}});
              context.drawImage(canvas, 0, 0);
              const data = context.getImageData(left * scale - 1, top * scale - 1, 3, 3).data;
              return data.some((value, i) => i % 4 === 3 && value > 200);
            }})()""", "exact")
        for x in (2.1, 2.5, 2.9):
            self.assertTrue(drawn_at(x, 0.1), x)
        self.assertFalse(drawn_at(2.5, 10 ** -1.5), "half way down a diagonal")
        self.assertTrue(drawn_at(3, 10 ** -1.5), "where it falls")

    def test_what_a_log_axis_cannot_show_is_a_gap(self):
        column = "graph.getLabels().findIndex((name) => name.startsWith('1|'))"
        gaps = self.graph(f"graph.file_.map((row) => row[{column}] && Number.isNaN(row[{column}][1]))", "exact")
        self.assertEqual(gaps, [False, True, False, None])
        self.assertIn("owl-qn goes below f* by 1.0e-03.", self.one("figcaption", "exact").text)

    def test_labels_of_a_log_axis_stand_where_their_numbers_are(self):
        self.choose("Show", "nnz")
        top = self.js("return arguments[0].getBoundingClientRect().top", self.one(".plot"))
        for low in (1.06, 2.06, 206, 3.06e-7, 9060, 215350.06):
            for span in (1.0001, 1.3, 7, 300, 4e5):
                self.graph(f"graph.updateOptions({{axes: {{y: {{valueRange: [{low}, {low * span}]}}}}}})")
                labels = self.js("""
                    return [...arguments[0].querySelectorAll('.dygraph-axis-label-y')].map((label) => {
                      const box = label.getBoundingClientRect();
                      return [label.textContent, (box.top + box.bottom) / 2];
                    }).filter(([text]) => text !== '')""", self.one(".plot"))
                self.assertGreaterEqual(len(labels), 2, (low, span))
                for text, pixel in labels:
                    place = self.graph(f"graph.toDomYCoord({number_of(text)!r})")
                    # At the ends of an axis, half a label has no room.
                    self.assertAlmostEqual(pixel - top, place, delta=9, msg=f"{text} on [{low}, {low * span}]")

    def test_results_of_which_every_run_failed_can_be_shown(self):
        self.assertEqual(self.one(".message", "crashed").text, "Nothing to draw here.")
        self.tick("show runs that failed", "crashed")
        self.assertGreater(self.pixels("0072B2", "crashed"), 50)

    def test_no_solver_is_no_error(self):
        self.one(".all button:last-child").click()
        self.assertEqual(self.one(".message").text, "No solver is chosen.")
        self.one(".all button").click()
        self.assertFalse(self.one(".message").is_displayed())
        self.assertGreater(self.pixels("0072B2"), 50)

    def test_machines_failures_and_timings_are_told_apart(self):
        names = [name.text for name in self.browser.find_elements("css selector", "#chart-spoilt .name")]
        self.assertIn("prox-newton @ first", names)
        self.assertIn("prox-newton @ second", names)
        self.assertIn(HOSTILE + " @ first", names)
        shown = self.graph("graph.getLabels().length", "spoilt")
        self.tick("show timings that are not comparable", "spoilt")
        self.assertEqual(self.graph("graph.getLabels().length", "spoilt"), shown + 3)
        self.tick("show runs that failed", "spoilt")
        self.assertEqual(self.graph("graph.getLabels().length", "spoilt"), shown + 4)
        self.assertFalse(self.has_check_box("not comparable", "plain"))
        failures = self.browser.find_element("css selector", "#spoilt .failures").text
        self.assertIn("crashed(SIGSEGV)", failures)
        self.assertIn("signal 11 " + HOSTILE, failures)

    def test_tables_sort_by_a_click_on_their_heads(self):
        table = self.browser.find_element("css selector", "#plain details table")
        heads = [head.text for head in table.find_elements("css selector", "th")]
        column = heads.index("nnz")

        def cells():
            # "650 [649.5, 650.5]": the median comes first.
            return [float(row.find_elements("css selector", "td")[column].text.split()[0])
                    for row in table.find_elements("css selector", "tbody tr")]
        button = table.find_elements("css selector", "th button")[column]
        button.click()
        self.assertEqual(cells(), sorted(cells()))
        button.click()
        self.assertEqual(cells(), sorted(cells(), reverse=True))
        self.assertEqual(table.find_elements("css selector", "th")[column].get_attribute("aria-sort"), "descending")

    def test_column_heads_do_not_stack(self):
        lines = self.js("""
            return [...document.querySelectorAll('details[open] th')].map((head) =>
              [head.textContent, (head.firstElementChild ?? head).offsetHeight / parseFloat(getComputedStyle(head).lineHeight)])""")
        self.assertGreater(len(lines), 10)
        self.assertEqual([head for head, count in lines if count > 1.9], [])

    def test_links_lead_to_the_raw_files(self):
        links = self.js("return [...document.querySelectorAll('a[href]')].map((link) => link.href)")
        files = [link for link in links if "manifest.json" in link or "trace.csv" in link or "model.tsv" in link]
        self.assertEqual(len(files), 4 * 3 * 18)
        from urllib.parse import unquote, urlparse
        for link in files:
            self.assertTrue(Path(unquote(urlparse(link).path)).is_file(), link)

    def test_a_phone_scrolls_down_only(self):
        self.show(NARROW)
        self.js("for (const details of document.querySelectorAll('details')) details.open = true")
        self.assertLessEqual(self.js("return document.documentElement.scrollWidth"), NARROW)
        self.assertGreater(self.pixels("0072B2"), 50)
        stopped = self.js("""
            const canvas = document.querySelector('.plot canvas:last-of-type');
            const at = (id) => new Touch({identifier: id, target: canvas, clientX: 100 + 50 * id, clientY: 100});
            return [1, 2].map((fingers) => {
              const touches = [at(0), at(1)].slice(0, fingers);
              const event = new TouchEvent('touchstart', {touches, cancelable: true, bubbles: true});
              canvas.dispatchEvent(event);
              return event.defaultPrevented;
            });""")
        self.assertEqual(stopped, [False, True], "one finger scrolls the page, two zoom the chart")
        self.show(NARROW)
        self.screenshot("report-400.png")

    def test_it_prints(self):
        self.screenshot("report-1200.png")
        pdf = base64.b64decode(self.cdp("Page.printToPDF", printBackground=True)["data"])
        self.assertTrue(pdf.startswith(b"%PDF"))
        if self.keep is not None:
            (self.keep / "report.pdf").write_bytes(pdf)
        self.cdp("Emulation.setDeviceMetricsOverride", width=700, height=900, deviceScaleFactor=1, mobile=False)
        self.cdp("Emulation.setEmulatedMedia", media="print")
        self.addCleanup(self.cdp, "Emulation.setEmulatedMedia", media="")
        self.js("window.dispatchEvent(new Event('beforeprint'))")
        self.assertLessEqual(self.js("return document.documentElement.scrollWidth"), 700)
        self.assertFalse(self.one(".controls").is_displayed())
        self.assertTrue(self.one(".swatch").is_displayed())

    def test_without_scripts_all_but_the_charts_can_be_read(self):
        self.cdp("Emulation.setScriptExecutionDisabled", value=True)
        self.browser.get(self.page.as_uri())
        self.cdp("Emulation.setScriptExecutionDisabled", value=False)
        text = self.browser.find_element("css selector", "#plain").text
        self.assertIn("The curves need JavaScript", text)
        self.assertIn("final difference", text)
        self.assertIn("Data here", text)


def main(options):
    if missing := [program for program in (BROWSER, DRIVER) if shutil.which(program) is None]:
        print(f"test-report: NOT RUN: found no {', '.join(missing)} (scripts/install-deps --browser)")
        return SKIPPED
    if options.check:
        return 0
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    with scratch("test-report") as folder:
        Page.keep, Page.page = options.keep, make_page(built(options.program), folder)
        if options.keep:
            shutil.copy(Page.page, options.keep / "report.html")
        Page.browser = start_browser()
        try:
            result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(
                unittest.defaultTestLoader.loadTestsFromTestCase(Page))
        finally:
            Page.browser.quit()
    return 0 if result.wasSuccessful() else 1
