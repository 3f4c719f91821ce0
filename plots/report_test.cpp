#include "plots/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>

#include "core/error.h"
#include "experiments/results.h"
#include "experiments/test_folder.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

const char* const kPaper = R"([paper]
item = Figure 1
caption = What it <shows>
reports = prox-qn is first
differs = another machine
)";

/// Results of an experiment as `run` leaves them: two solvers, figures and a table.
fs::path results(const TestFolder& folder, const std::string& name, const std::string& description,
                 const std::string& more = kPaper, double reference_kkt = 1e-11) {
  folder.write(name + "/config.ini", "[experiment]\nname = " + name +
                                         "\ntitle = A & B\nlambda = 10\n[data.ocr]\nformat = x\n" +
                                         "[solver.slow]\n[solver.quick]\n" + more);
  for (const auto& [label, speed] : {std::pair{"slow", 2.0}, std::pair{"quick", 1.0}}) {
    const nlohmann::json summary = {{"status", "converged"},
                                    {"objective", 100.0},
                                    {"nnz", 7},
                                    {"relative_kkt", 1e-9},
                                    {"tol", 1e-8},
                                    {"test_accuracy", 0.75},
                                    {"instances", 6216},
                                    {"d", 215358},
                                    {"threads", 2},
                                    {"backend", "openmp"},
                                    {"run",
                                     {{"experiment", name},
                                      {"dataset", "ocr"},
                                      {"lambda", 10.0},
                                      {"solver", label},
                                      {"label", label},
                                      {"repetition", 1},
                                      {"description", description},
                                      {"reference_objective", 100.0},
                                      {"reference_kkt", reference_kkt},
                                      {"kkt_at_zero", 1000.0},
                                      {"time_limit", 30.0},
                                      {"cpu", "a processor"},
                                      {"cores", 2}}}};
    const std::string run = name + "/runs/ocr-lambda10-" + label + "-rep1";
    folder.write(run + "/manifest.json", summary.dump());
    std::string trace = trace_header() + "\n";
    for (const auto& [seconds, objective] : {std::pair{0.0, 200.0}, std::pair{3.0, 100.0}}) {
      Sample sample;
      sample.seconds = speed * seconds;
      sample.objective = objective;
      trace += trace_line(sample) + "\n";
    }
    folder.write(run + "/trace.csv", trace);
  }
  for (const char* figure :
       {"ocr-lambda10-accuracy", "ocr-lambda10-objective", "ocr-lambda10-objective-logx"})
    for (const char* extension : {".png", ".svg", ".pdf", ".gp"})
      folder.write(name + "/figures/" + figure + extension, std::string("image ") + '\0' + extension);
  folder.write(name + "/tables/summary.md", "a table");
  return folder / name;
}

/// Every file that the page points to.
std::vector<std::string> targets(const std::string& html) {
  std::vector<std::string> out;
  const std::regex link("(?:href|src)=\"([^\"]*)\"");
  for (auto at = std::sregex_iterator(html.begin(), html.end(), link); at != std::sregex_iterator(); ++at)
    out.push_back((*at)[1]);
  return out;
}

TEST(Report, StandsOursBesideWhatThePaperSays) {
  const TestFolder folder;
  const fs::path page = write_report({results(folder, "figure1", "OCR words")}, folder / "page",
                                     {.title = "All of it", .notes = {"train.txt < missing"}});
  EXPECT_EQ(page, folder / "page/index.html");
  const std::string html = read_text(page), markdown = read_text(folder / "page/index.md");
  for (const std::string& text : {html, markdown}) {
    for (const char* part :
         {"All of it", "Figure 1: A ", "prox-qn is first", "another machine",
          "a processor, 2 cores, threads: 2", "2 of 2 runs reached their tolerance; limit of a run: 30 s.",
          "OCR words (6,216 training instances, d = 215,358)"})
      EXPECT_THAT(text, HasSubstr(part));
    EXPECT_THAT(text, HasSubstr("≤ 1e-08: quick 3 s, slow 6 s."));
    EXPECT_THAT(text, Not(HasSubstr("SYNTHETIC")));
  }
  EXPECT_THAT(html, HasSubstr("What it &lt;shows&gt;"));
  EXPECT_THAT(html, HasSubstr("train.txt &lt; missing"));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
}

TEST(Report, IsAFolderOfItsOwn) {
  const TestFolder folder;
  const fs::path page = write_report({results(folder, "figure1", "OCR")}, folder / "page");
  const std::string html = read_text(page);
  for (const std::string& target : targets(html))
    EXPECT_TRUE(target.starts_with("#") || fs::exists(folder / "page" / target)) << target;
  EXPECT_THAT(targets(html), testing::Contains("figure1-ocr-lambda10-objective.png"));
  EXPECT_THAT(targets(html), testing::Contains("figure1-summary.md"));
  EXPECT_EQ(read_text(folder / "page/figure1-ocr-lambda10-objective.svg"),
            std::string("image ") + '\0' + ".svg");
  EXPECT_FALSE(fs::exists(folder / "page/figure1-ocr-lambda10-objective.gp")) << "it names other files";
  EXPECT_LT(html.find("objective.png"), html.find("objective-logx.png"));
  EXPECT_LT(html.find("objective-logx.png"), html.find("accuracy.png"));
}

TEST(Report, ShoutsWhereDataAreSynthetic) {
  const TestFolder folder;
  write_report({results(folder, "real", "OCR"), results(folder, "made", "synthetic words, seed 1")},
               folder / "page");
  const std::string html = read_text(folder / "page/index.html"),
                    markdown = read_text(folder / "page/index.md");
  EXPECT_THAT(html, HasSubstr("<section id=\"made\">\n<h2>SYNTHETIC DATA: Figure 1: A &amp; B</h2>\n"
                              "<p class=\"synthetic\">SYNTHETIC DATA: generated"));
  EXPECT_THAT(html, HasSubstr("<td><strong>SYNTHETIC DATA</strong> synthetic words"));
  EXPECT_THAT(html, HasSubstr("<section id=\"real\">\n<h2>Figure 1"));
  EXPECT_THAT(markdown, HasSubstr("## SYNTHETIC DATA: Figure 1: A & B\n\n> **SYNTHETIC DATA: generated"));
}

TEST(Report, ShowsTheTableOfThePapersNumbers) {
  const TestFolder folder;
  write_report(
      {results(folder, "table1", "OCR", "[paper]\nitem = Table 1\nlambda = 10\nnnz = 14\naccuracy = 0.5\n")},
      folder / "page");
  EXPECT_THAT(
      read_text(folder / "page/index.md"),
      HasSubstr("### Table 1 of the paper, and ours\n\n| data | status | lambda | nnz: paper | ours |"));
  EXPECT_THAT(read_text(folder / "page/index.html"), HasSubstr("<td class=\"number\">-50.0 %</td>"));
}

TEST(Report, TellsNoOrderThatAnInexactOptimumCannotShow) {
  const TestFolder folder;
  write_report({results(folder, "loose", "OCR", "", 1e-7)}, folder / "page");  // f* to 2e-5
  EXPECT_THAT(read_text(folder / "page/index.md"), HasSubstr("≤ 0.0001: quick 3 s, slow 6 s."));
  write_report({results(folder, "none", "OCR", "", 1e-2)}, folder / "page");
  EXPECT_THAT(read_text(folder / "page/index.md"),
              HasSubstr("none can be told, f* is proven to a relative accuracy of 2.0e+00 only."));
}

TEST(Report, AlsoShowsResultsThatBelongToNoPaper) {
  const TestFolder folder;
  write_report({results(folder, "mine", "OCR", "")}, folder / "page");
  const std::string markdown = read_text(folder / "page/index.md");
  EXPECT_THAT(markdown, HasSubstr("## mine: A & B"));
  EXPECT_THAT(markdown, Not(HasSubstr("The paper")));
}

TEST(Report, RefusesNothingAndTheSameNameTwice) {
  const TestFolder folder;
  EXPECT_THROW(write_report({}, folder / "page"), Error);
  const fs::path once = results(folder, "a", "OCR");
  try {
    write_report({once, once}, folder / "page");
    ADD_FAILURE() << "expected an error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("found a second experiment named 'a'"));
  }
  EXPECT_THROW(write_report({folder / "none"}, folder / "page"), Error);
}

}  // namespace
}  // namespace proxbench
