#include "plots/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>

#include "core/base/error.h"
#include "experiments/base/test_folder.h"
#include "experiments/results/field_csv.h"
#include "experiments/results/results.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

const char* const kPaper = R"([paper]
item = Figure 1
caption = What it <shows>
reports = prox-newton is first
differs = another machine
)";

/// Sets an environment variable during its lifetime.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
  ~Environment() { unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
};

/// Makes results of an experiment as `run` leaves them: two solvers, figures and a table.
fs::path results(const TestFolder& folder, const std::string& name, const std::string& description,
                 const std::string& more = kPaper, double reference_kkt = 1e-11) {
  folder.write(name + "/config.ini", "[experiment]\nname = " + name +
                                         "\ntitle = A & B\nlambda = 10\n[data.ocr]\nformat = x\n" +
                                         "[solver.slow]\n[solver.quick]\n" + more);
  for (const auto& [label, speed] : {std::pair{"slow", 2.0}, std::pair{"quick", 1.0}}) {
    proxbench::Run stored;
    stored.set_status("converged");
    RunParameters& p = stored.parameters;
    p.experiment = name;
    p.dataset = "ocr";
    p.lambda = 10.0;
    p.solver = p.label = label;
    p.tol = 1e-8;
    p.threads = 2;
    p.time_limit = 30.0;
    RunFigures& result = stored.result;
    result.certificate.objective = 100.0;
    result.certificate.nnz = 7;
    result.certificate.kkt = 1e-9;
    result.kkt_at_zero = 1.0;
    result.test_accuracy = 0.75;
    result.instances = 6216;
    result.d = 215358;
    result.description = description;
    stored.best = {100.0, reference_kkt, kNaN, 1000.0};
    stored.provenance.cpu = "a processor";
    stored.provenance.cores = 2;
    const std::string run = name + "/runs/ocr-lambda10-" + label + "-rep1";
    make_folder(folder / run);
    write_record(folder / run / kManifestFile, stored);
    std::string trace = csv_header(trace_columns()) + "\n";
    for (const auto& [seconds, objective] :
         {std::pair{0.0, 200.0}, std::pair{2.9, 200.0}, std::pair{3.0, 100.0}}) {
      Sample sample;
      sample.seconds = speed * seconds;
      sample.objective = objective;
      trace += csv_line(trace_columns(), sample) + "\n";
    }
    folder.write(run + "/trace.csv", trace);
  }
  folder.write(name + "/figures/ocr-lambda10-objective.svg", "a figure");
  folder.write(name + "/tables/summary.md", "a table");
  return folder / name;
}

/// Changes the manifest of a run of results().
template <class Edit>
void edit_manifest(const TestFolder& folder, const std::string& run, const Edit& edit) {
  proxbench::Run stored = read_record(folder / run / kManifestFile);
  edit(stored);
  write_record(folder / run / kManifestFile, stored);
}

/// Returns the page, made with a stand-in for the charting library.
std::string page_of(const TestFolder& folder, const std::vector<fs::path>& shown,
                    const ReportOptions& options = {}, const std::string& page = "page.html") {
  folder.write("library/dygraph.min.js", "/* the library */");
  folder.write("library/dygraph.min.css", "/* its style */");
  const Environment variable("PROXBENCH_DYGRAPHS", (folder / "library").string());
  write_report(shown, folder / page, options);
  return read_text(folder / page);
}

/// Returns the data of the charts, in the order of the page.
std::vector<nlohmann::json> chart_data_in(const std::string& html) {
  const std::string open = "<script type=\"application/json\">", close = "</script>";
  std::vector<nlohmann::json> out;
  for (std::size_t at = html.find(open); at != std::string::npos; at = html.find(open, at)) {
    at += open.size();
    out.push_back(nlohmann::json::parse(html.substr(at, html.find(close, at) - at)));
  }
  return out;
}

/// Returns the chart of the objective against seconds.
const nlohmann::json& first_chart(const nlohmann::json& data) {
  return data["groups"][0]["panels"]["objective"]["seconds"]["each"];
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// Returns every address that the page links to.
std::vector<std::string> targets(const std::string& html) {
  std::vector<std::string> out;
  const std::regex link("(?:href|src)=\"([^\"]*)\"");
  for (auto at = std::sregex_iterator(html.begin(), html.end(), link); at != std::sregex_iterator(); ++at)
    out.push_back((*at)[1]);
  return out;
}

TEST(Report, StandsOursBesideWhatThePaperSays) {
  const TestFolder folder;
  const std::string html = page_of(folder, {results(folder, "figure1", "OCR words")},
                                   {.title = "All of it", .notes = {"train.txt < missing"}});
  for (const char* part : {"<title>All of it</title>", "<h1>All of it</h1>", "Figure 1: A &amp; B",
                           "prox-newton is first", "another machine", "What it &lt;shows&gt;",
                           "train.txt &lt; missing", "a processor, 2 cores, threads: 2, openmp.",
                           "2 of 2 runs reached their tolerance; limit of a run: 30 s.",
                           "OCR words (6,216 training instances, d = 215,358)",
                           "≤ 1e-08: quick 3 s, slow 6 s.", "ocr, lambda = 10, f* = 100"})
    EXPECT_THAT(html, HasSubstr(part));
  EXPECT_THAT(html, Not(HasSubstr("class=\"synthetic\"")));
}

TEST(Report, IsOneFileWhoseLinksLeadToTheRawFiles) {
  const TestFolder folder;
  const fs::path shown = results(folder, "figure1", "OCR");
  fs::rename(shown, folder / "it's #1 & so on");
  fs::create_directory(folder / "deep");
  const std::vector<std::string> found =
      targets(page_of(folder, {folder / "it's #1 & so on"}, {}, "deep/page.html"));
  const std::string there = "../it%27s%20%231%20%26%20so%20on/";
  for (const char* file :
       {"runs/ocr-lambda10-quick-rep1/manifest.json", "runs/ocr-lambda10-slow-rep1/trace.csv",
        "figures/ocr-lambda10-objective.svg", "tables/summary.md"})
    EXPECT_THAT(found, testing::Contains(there + file));
  for (const std::string& target : found)
    EXPECT_TRUE(target.starts_with("#") || target.starts_with(there)) << target;
  EXPECT_THAT(found, Not(testing::Contains(HasSubstr("model.tsv")))) << "no run left one";
}

TEST(Report, HoldsTheChartingLibraryItsLicenceAndTheData) {
  const TestFolder folder;
  const std::string html = page_of(folder, {results(folder, "figure1", "OCR")});
  EXPECT_THAT(html, HasSubstr("/* the library */"));
  EXPECT_THAT(html, HasSubstr("/* its style */"));
  EXPECT_THAT(html, HasSubstr("Permission is hereby granted, free of charge"));
  EXPECT_THAT(html, HasSubstr("<noscript><p>The curves need JavaScript"));
  const std::vector<nlohmann::json> charts = chart_data_in(html);
  ASSERT_EQ(charts.size(), 1u);
  const nlohmann::json chart = charts[0]["groups"][0]["panels"]["nnz"]["seconds"]["each"];
  EXPECT_EQ(chart["curves"][1]["x"], nlohmann::json({0.0, 2.9, 3.0}));
}

TEST(Report, ATableOfSizesHasNoChartOfTwoPoints) {
  const TestFolder folder;
  const fs::path shown = results(folder, "sizes", "OCR");
  for (const char* label : {"slow", "quick"}) {
    const std::string file = std::string("sizes/runs/ocr-lambda10-") + label + "-rep1/trace.csv";
    std::vector<std::string> lines;
    std::istringstream trace(read_text(folder / file));
    for (std::string line; std::getline(trace, line);) lines.push_back(line + "\n");
    folder.write(file,
                 lines[0] + lines[1] + lines[3] + lines[3]);  // the end is both a light sample and a full one
  }
  const std::string html = page_of(folder, {shown});
  EXPECT_TRUE(chart_data_in(html).empty());
  EXPECT_THAT(html, HasSubstr("Times and ends of all runs"));
}

TEST(Report, SaysWhatToInstallWhereTheChartingLibraryIsMissing) {
  const TestFolder folder;
  const fs::path shown = results(folder, "figure1", "OCR");
  const Environment variable("PROXBENCH_DYGRAPHS", (folder / "nowhere").string());
  try {
    write_report({shown}, folder / "page.html");
    ADD_FAILURE() << "expected an error";
  } catch (const Error& error) {
    EXPECT_THAT(
        error.what(),
        HasSubstr(
            "nowhere/dygraph.min.js: found no readable file, expected the charting library dygraphs (Debian "
            "package libjs-dygraphs; scripts/install-deps)"));
  }
  EXPECT_FALSE(fs::exists(folder / "page.html"));
}

TEST(Report, LetsNoNameLeaveItsPlace) {
  const TestFolder folder;
  const std::string hostile = "</script><!--<script>\"'&<img src=x onerror=y>\xff";
  const fs::path shown = results(folder, "figure1", "OCR");
  const std::string text = hostile.substr(0, hostile.size() - 1);
  for (const char* run : {"figure1/runs/ocr-lambda10-slow-rep1", "figure1/runs/ocr-lambda10-quick-rep1"})
    edit_manifest(folder, run, [&](proxbench::Run& stored) {
      stored.parameters.dataset = text + "dataset";
      stored.parameters.label = text + "label";
      stored.result.description = text + "description";
      stored.set_status("failed(" + hostile.substr(0, 20) + ")");
      stored.result.reason = stored.provenance.machine = text;
    });
  // Without sections of data and solvers, whose names could not be like these, all runs are shown.
  folder.write("figure1/config.ini", "[experiment]\nname = figure1\nlambda = 10\n; " + hostile + "\n");
  const std::string html = page_of(folder, {shown});
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_THAT(html, Not(HasSubstr("<!--")));
  EXPECT_EQ(count(html, "<script"), 4u) << "data, ticks, library, ours";
  EXPECT_EQ(count(html, "</script>"), 4u);
  EXPECT_EQ(first_chart(chart_data_in(html)[0])["title"],
            "Relative objective difference: " + text + "dataset, λ = 10");
}

TEST(Report, ShoutsWhereDataAreSynthetic) {
  const TestFolder folder;
  const std::string html =
      page_of(folder, {results(folder, "real", "OCR"), results(folder, "made", "synthetic words, seed 1")});
  EXPECT_THAT(html, HasSubstr("<section id=\"made\">\n<h2>SYNTHETIC DATA: Figure 1: A &amp; B</h2>\n"
                              "<p class=\"synthetic\">SYNTHETIC DATA: generated"));
  EXPECT_THAT(html, HasSubstr("<td><strong>SYNTHETIC DATA: </strong>synthetic words"));
  EXPECT_THAT(html, HasSubstr("<section id=\"real\">\n<h2>Figure 1"));
  const std::vector<nlohmann::json> charts = chart_data_in(html);
  EXPECT_EQ(first_chart(charts[0])["warning"], "");
  EXPECT_EQ(first_chart(charts[1])["warning"], "SYNTHETIC DATA: ");
}

TEST(Report, ShowsTheTableOfThePapersNumbers) {
  const TestFolder folder;
  const std::string html = page_of(
      folder,
      {results(folder, "table1", "OCR", "[paper]\nitem = Table 1\nlambda = 10\nnnz = 14\naccuracy = 0.5\n")});
  EXPECT_THAT(html, HasSubstr("<h3>Table 1 of the paper, and ours</h3>"));
  EXPECT_THAT(html, HasSubstr("<td class=\"number\">-50.0 %</td>"));
}

TEST(Report, TellsNoOrderThatAnInexactOptimumCannotShow) {
  const TestFolder folder;
  EXPECT_THAT(page_of(folder, {results(folder, "loose", "OCR", "", 1e-7)}),  // f* to 2e-5
              HasSubstr("≤ 0.0001: quick 3 s, slow 6 s."));
  EXPECT_THAT(page_of(folder, {results(folder, "none", "OCR", "", 1e-2)}),
              HasSubstr("none can be told, f* is proven to a relative accuracy of 2.0e+00 only."));
}

TEST(Report, SaysBetweenWhichSamplesATargetWasReachedWhereTheyAreFarApart) {
  const TestFolder folder;
  const fs::path shown = results(folder, "coarse", "OCR", "");
  const std::string trace = "coarse/runs/ocr-lambda10-slow-rep1/trace.csv";
  Sample first, last;
  first.objective = 200.0;
  last.objective = 100.0;
  last.seconds = 6.0;
  folder.write(trace, csv_header(trace_columns()) + "\n" + csv_line(trace_columns(), first) + "\n" +
                          csv_line(trace_columns(), last) + "\n");
  EXPECT_THAT(page_of(folder, {shown}), HasSubstr("quick 3 s, slow 0 to 6 s."));
}

TEST(Report, LeavesOutAndNamesRunsOfSolversThatTheConfigNoLongerHas) {
  const TestFolder folder;
  const fs::path shown = results(folder, "changed", "OCR", "");
  folder.write("changed/config.ini",
               "[experiment]\nname = changed\nlambda = 10\n[data.ocr]\nformat = x\n[solver.quick]\n");
  std::vector<std::string> warnings;
  const std::string html = page_of(
      folder, {shown}, {.notes = {}, .warn = [&](const std::string& text) { warnings.push_back(text); }});
  EXPECT_THAT(html, Not(HasSubstr("ocr-lambda10-slow-rep1")));
  EXPECT_THAT(html, HasSubstr("ocr-lambda10-quick-rep1"));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0], testing::EndsWith("config.ini has no solver slow"));
}

TEST(Report, ListsFailedRunsWithTheirReasonAndOrdersNeitherThemNorTimingsThatAreNotComparable) {
  const TestFolder folder;
  const fs::path shown = results(folder, "figure1", "OCR");
  edit_manifest(folder, "figure1/runs/ocr-lambda10-slow-rep1", [](proxbench::Run& stored) {
    stored.result = {};
    stored.set_status("out-of-memory");
    stored.result.reason = "asked for 9 GB";
    stored.result.description = "OCR";
  });
  std::string html = page_of(folder, {shown});
  EXPECT_THAT(html, HasSubstr("<h3>Runs that failed</h3>"));
  EXPECT_THAT(html,
              HasSubstr("<td>ocr-lambda10-slow-rep1</td><td>out-of-memory</td><td>asked for 9 GB</td>"));
  EXPECT_THAT(html, HasSubstr("1 of 2 runs reached their tolerance, 1 failed;"));
  EXPECT_THAT(html, HasSubstr("<p>OCR (6,216 training instances, d = 215,358)</p>\n</div>"));
  EXPECT_THAT(html, HasSubstr("<p>a processor, 2 cores, threads: 2, openmp.</p>"));
  EXPECT_THAT(html, Not(HasSubstr("Order of the solvers here")));

  edit_manifest(folder, "figure1/runs/ocr-lambda10-slow-rep1", [](proxbench::Run& stored) {
    stored.set_status("converged");
    stored.timing.comparable = false;
    stored.timing.not_comparable_because = "another load";
  });
  html = page_of(folder, {shown});
  EXPECT_THAT(html, Not(HasSubstr("Runs that failed")));
  EXPECT_THAT(html, HasSubstr("<td>ocr-lambda10-slow-rep1</td><td>another load</td>"));
  EXPECT_THAT(html, Not(HasSubstr("Order of the solvers here")));
  EXPECT_TRUE(chart_data_in(html)[0]["uncomparable"]);
}

TEST(Report, TellsIdenticalProvenanceOnceAndMachinesApart) {
  const TestFolder folder;
  const fs::path shown = results(folder, "figure1", "OCR");
  for (const char* label : {"slow", "quick"})
    edit_manifest(folder, std::string("figure1/runs/ocr-lambda10-") + label + "-rep1",
                  [&](proxbench::Run& stored) {
                    stored.provenance.compiler = "GCC 12";
                    stored.provenance.machine = label;
                    stored.provenance.cpu = "fast one";
                    stored.provenance.cores = 4;
                  });
  const std::string html = page_of(folder, {shown});
  EXPECT_EQ(count(html, "<td>program_compiler</td><td>GCC 12</td>"), 1u);
  EXPECT_EQ(count(html, "<td>machine_cpu</td><td>fast one</td>"), 1u);
  EXPECT_THAT(html, HasSubstr("<th scope=\"col\">run</th><th scope=\"col\">machine_name</th></tr>"));
  EXPECT_THAT(html, HasSubstr("<td>ocr-lambda10-slow-rep1</td><td>slow</td>"));
  EXPECT_THAT(html, HasSubstr("slow: fast one, 4 cores, threads: 2, openmp; quick: fast one"));
  EXPECT_EQ(chart_data_in(html)[0]["series"][0]["name"], "slow @ slow");
  EXPECT_THAT(html, HasSubstr("<td>quick @ quick</td>"));
}

/// Adds a path of two points to results(), with a figure of it.
void add_path(const TestFolder& folder, const std::string& name) {
  const std::string run = name + "/runs/ocr-path-20-10-2-quick-rep1";
  fs::copy(folder / name / "runs/ocr-lambda10-quick-rep1", folder / run);
  edit_manifest(folder, run, [](proxbench::Run& stored) {
    stored.parameters.path = "path(20, 10, 2)";
    stored.parameters.lambda = 0.0;
    stored.result.points_asked = 2;
    stored.result.passes = 30.0;
  });
  std::string points = csv_header(path_columns()) + "\n";
  for (const std::size_t number : {1u, 2u}) {
    const double lambda = 20.0 / static_cast<double>(number);
    PathPoint point{.number = number, .lambda = lambda, .seconds = 40.0 / lambda, .passes = 400.0 / lambda};
    point.certificate.nnz = static_cast<std::size_t>(1234.0 / lambda);
    points += csv_line(path_columns(), point) + "\n";
  }
  folder.write(run + "/path.csv", points);
  folder.write(name + "/figures/path-ocr-nnz.svg", "<svg>#1</svg>");
}

TEST(Report, ShowsPathsWithTheirFiguresCostsAndPoints) {
  const TestFolder folder;
  const fs::path shown = results(folder, "figure1", "OCR words");
  add_path(folder, "figure1");
  const std::string html = page_of(folder, {shown});
  for (const char* part :
       {"3 of 3 runs reached their tolerance", "<h3>Regularisation paths</h3>",
        "<img src=\"data:image/svg+xml,%3Csvg%3E%231%3C/svg%3E\" "
        "alt=\"ocr: regularisation path: nonzeros\">",
        "<h3>What paths cost</h3>", "Points: ocr, lambda = path(20, 10, 2), quick, repetition 1",
        "<td class=\"number\">123</td>", "runs/ocr-path-20-10-2-quick-rep1/path.csv",
        "figures/path-ocr-nnz.svg"})
    EXPECT_THAT(html, HasSubstr(part));
  const std::vector<nlohmann::json> charts = chart_data_in(html);
  ASSERT_EQ(charts.size(), 1u);
  EXPECT_EQ(charts[0]["groups"].size(), 1u) << "of the single lambda";
}

TEST(Report, ShowsPathsAlone) {
  const TestFolder folder;
  const fs::path shown = results(folder, "mine", "OCR words", "");
  add_path(folder, "mine");
  for (const char* label : {"quick", "slow"})
    fs::remove_all(shown / "runs" / ("ocr-lambda10-" + std::string(label) + "-rep1"));
  fs::remove(shown / "figures/path-ocr-nnz.svg");
  const std::string html = page_of(folder, {shown});
  EXPECT_THAT(html, HasSubstr("1 of 1 runs reached their tolerance"));
  EXPECT_THAT(html, HasSubstr("--kind path</code> draws"));
  EXPECT_THAT(html, HasSubstr("What paths cost"));
  EXPECT_TRUE(chart_data_in(html).empty());
  EXPECT_THAT(html, Not(HasSubstr("Times and ends")));
  EXPECT_THAT(html, Not(HasSubstr("Order of the solvers")));
}

TEST(Report, ShowsTheoryWhereItWasMade) {
  const TestFolder folder;
  const fs::path shown = results(folder, "figure1", "OCR words");
  EXPECT_THAT(page_of(folder, {shown}), Not(HasSubstr("<h3>Theory</h3>")));
  folder.write("figure1/theory.json",
               R"({"problems": [{"dataset": "ocr", "description": "words", "lambda": 10, "arms": [],)"
               R"("optimum": {"nnz": 7, "objective": 1, "kkt": 0}}]})");
  folder.write("figure1/figures/theory-ocr-10.svg", "<svg>#2</svg>");
  const std::string html = page_of(folder, {shown});
  for (const char* part :
       {"<h3>Theory</h3>", "%3Csvg%3E%232%3C/svg%3E", "Theorem 1", "Theorem 3", "figures/theory-ocr-10.svg"})
    EXPECT_THAT(html, HasSubstr(part));
}

TEST(Report, ShowsTheConfig) {
  const TestFolder folder;
  EXPECT_THAT(page_of(folder, {results(folder, "figure1", "OCR")}),
              HasSubstr("<pre>[experiment]\nname = figure1\ntitle = A &amp; B\n"));
}

TEST(Report, AlsoShowsResultsThatBelongToNoPaper) {
  const TestFolder folder;
  const std::string html = page_of(folder, {results(folder, "mine", "OCR", "")});
  EXPECT_THAT(html, HasSubstr("<h2>mine: A &amp; B</h2>"));
  EXPECT_THAT(html, Not(HasSubstr("The paper")));
}

TEST(Report, RefusesNothingAFolderAndTheSameNameTwice) {
  const TestFolder folder;
  EXPECT_THROW(page_of(folder, {}), Error);
  const fs::path once = results(folder, "a", "OCR");
  const auto said = [&](const std::vector<fs::path>& shown, const fs::path& page) -> std::string {
    try {
      write_report(shown, page);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(said({once, once}, folder / "page.html"), HasSubstr("found a second experiment named 'a'"));
  EXPECT_THAT(said({once}, folder.path()), HasSubstr("found a folder, expected the name of an HTML file"));
  EXPECT_THAT(said({folder / "none"}, folder / "page.html"), HasSubstr("found no run"));
  EXPECT_FALSE(fs::exists(folder / "page.html"));
}

}  // namespace
}  // namespace proxbench
