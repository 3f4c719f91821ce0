/// Sweeps with external programs, and `convert`, as users run them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/base/test_command_line.h"

namespace proxbench {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

/// An adapter that trains a weight which grows with the stop, or executes `fault`.
std::string adapter_with(const std::string& fault) {
  return R"sh(#!/bin/sh
case $1 in
describe) cat <<'END'
{"name": "Fake", "version": "1.0", "program": "/bin/sh", "losses": ["log"], "algorithms": {"a": ["l1"]},
 "structures": ["chain"], "formats": ["crfsuite"], "stop": {"by": "iterations", "start": 1, "first": 2, "growth": 2},
 "objective": true, "threads": false}
END
;;
train) )sh" +
         fault + R"sh(
  sed -n 's/.*"stop": //p' "$2" > model ;;
model) printf '# proxbench model 1\nunary\tw=the\tO\t0.%s\n' "$(cat "$(dirname "$2")/model")" ;;
esac
)sh";
}

constexpr const char* kSweep = R"([experiment]
name = programs
lambda = 0.5
threads = 2
tol = 1e-6
max_iterations = 4
wall_limit = 10
kill_grace = 1
warm_up = 0
[data.words]
format = crfsuite
train = train.txt
test = test.txt
[solver.prox-newton]
[solver.good]
solver = external
adapter = ./good
[solver.crash]
solver = external
adapter = ./crash
[solver.hang]
solver = external
adapter = ./hang
[plot]
kinds = curves, profile
)";

/// The project's adapters are Python scripts.
constexpr const char* kAdapters = R"(
[solver.absent]
solver = external
adapter = wapiti
program = /nowhere/wapiti
[solver.columns]
solver = external
adapter = crf++
program = ./crf_learn
[solver.door]
solver = external
adapter = proxbench
)";

class Programs : public CommandLine {
 protected:
  Programs() {
    add("good", adapter_with(""));
    add("crash", adapter_with("[ -e ../seen ] && kill -ABRT $$; touch ../seen; echo so far so good;"));
    add("hang", adapter_with("sleep 1000;"));
    add("crf_learn", "#!/bin/sh\necho 'CRF++ of 0.59'\n");
    folder.write("programs.ini", kSweep);
  }
  void add(const std::string& name, const std::string& text) {
    folder.write(name, text);
    fs::permissions(folder / name, fs::perms::owner_all);
  }
  json manifest(const std::string& label) const {
    return read_json("out/runs/words-lambda0.5-" + label + "-rep1/manifest.json");
  }
};

TEST_F(Programs, EachFaultIsARunWithItsReasonAndTheSweepGoesOn) {
  const Result swept = run("run programs.ini --out out --quiet");
  EXPECT_EQ(swept.status, 1) << swept.err;

  const json good = manifest("good");
  EXPECT_EQ(good["status"], "max-iterations") << good["reason"];
  EXPECT_EQ(good["trainer"], "Fake 1.0, one thread");
  EXPECT_EQ(good["nnz"], 1);
  EXPECT_GT(good["dual"], 0.0) << "our certificate";
  EXPECT_GT(good["timing"]["load_seconds"], 0.0);
  EXPECT_GT(good["peak_rss_bytes"], 0);
  EXPECT_FALSE(good["test_accuracy"].is_null());
  EXPECT_THAT(read_text(folder / "out/runs/words-lambda0.5-good-rep1/model.tsv"),
              HasSubstr("unary\tw=the\tO\t0.4\n"));
  EXPECT_EQ(manifest("crash")["status"], "failed");
  EXPECT_EQ(manifest("crash")["reason"],
            "Fake 1.0, one thread: crashed with SIGABRT; the end of its log: (nothing)");
  EXPECT_EQ(manifest("hang")["status"], "time-limit");
  EXPECT_THAT(manifest("hang")["reason"], HasSubstr("asked to stop after 10 s of wall time"));
  for (const auto& run : fs::directory_iterator(folder / "out/runs"))
    EXPECT_FALSE(fs::exists(run.path() / "trainer")) << "the converted data stay nowhere";

  const Result table = run("table out");
  EXPECT_THAT(table.out,
              AllOf(HasSubstr("| good [Fake 1.0, one thread] | max-iterations |"),
                    HasSubstr("an external trainer, started repeatedly"), HasSubstr("crashed with SIGABRT")));
  ASSERT_EQ(run("report --out page.html out").status, 0);
  // With --with-start, the seconds of our solvers include loading and set-up, too.
  const auto seconds_of = [&](const std::string& flags, std::size_t row) {
    EXPECT_EQ(run("table out --columns seconds --out tables --kind summary " + flags).status, 0);
    std::istringstream lines(read_text(folder / "tables/tables/summary.csv"));
    std::string line;
    for (std::size_t i = 0; i <= row; ++i) std::getline(lines, line);
    return line;
  };
  EXPECT_NE(seconds_of("", 1), seconds_of("--with-start", 1));

  // Stored runs are reused, and failed runs are tried again. A changed program is run again.
  const Result again = run("run programs.ini --out out --dry-run --why");
  EXPECT_THAT(again.out, HasSubstr("failed before"));
  add("good", adapter_with("true;"));
  EXPECT_THAT(run("run programs.ini --out out --dry-run --why").out, HasSubstr("program: another build"));
}

TEST_F(Programs, AdaptersOfTheProjectAreMadeOrSkippedWithTheirReason) {
  if (std::system("python3 --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "python3 is missing";
  std::string config = kSweep;
  for (const char* fault : {"crash", "hang"}) {
    const std::size_t at = config.find(std::string("[solver.") + fault);
    config.erase(at, config.find('[', at + 1) - at);
  }
  const std::string limit = "wall_limit = 10\n";  // for the hanging program only
  config.erase(config.find(limit), limit.size());
  folder.write("programs.ini", config + kAdapters);
  const Result checked = run("check programs.ini");
  EXPECT_EQ(checked.status, 2) << "a sweep would skip all runs of a solver";
  EXPECT_THAT(checked.err, HasSubstr("[solver.absent] can run on no problem of the config: no program"));
  EXPECT_THAT(run("run programs.ini --out out --dry-run").out,
              HasSubstr("absent is skipped on 1 of 1 problems: no program /nowhere/wapiti"));
  const Result swept = run("run programs.ini --out out --quiet");
  EXPECT_EQ(swept.status, 0) << "what does not fit is no failure: " << swept.err;
  EXPECT_EQ(manifest("absent")["status"], "skipped(the solver does not fit)");
  EXPECT_THAT(manifest("absent")["reason"], HasSubstr("no program /nowhere/wapiti"));
  EXPECT_EQ(manifest("columns")["status"], "skipped(the solver does not fit)");
  EXPECT_THAT(manifest("columns")["reason"],
              HasSubstr("crf++ cannot hold these data: found the value 0.5 of feature 'x'"));
  EXPECT_EQ(manifest("door")["objective"], manifest("prox-newton")["objective"])
      << "after the same number of iterations, to the last digit";
}

TEST_F(Programs, AConfigWithoutAnAdapterIsAnError) {
  folder.write("bad.ini", std::string(kSweep) + "[solver.none]\nsolver = external\n");
  const Result checked = run("check bad.ini");
  EXPECT_EQ(checked.status, 2);
  EXPECT_THAT(checked.err, HasSubstr("[solver.none] has no key 'adapter', expected adapter = ..."));
}

TEST_F(CommandLine, ConvertWritesWhatItPrints) {
  const Result done = run("convert --format crfsuite --train train.txt --to crfsparse --out o.txt");
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(done.out, "o.txt\no.txt.template\no.txt.names\n");
  EXPECT_THAT(read_text(folder / "o.txt"), HasSubstr("O 0:1 1:1\nB 1:1 2:1\n"));
  const Result refused = run("convert --format crfsuite --train train.txt --to wapiti --out w.txt");
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr("wapiti cannot hold these data: found the value 0.5 of feature 'x'"));
  EXPECT_FALSE(fs::exists(folder / "w.txt"));
  EXPECT_EQ(run("convert --format crfsuite --train train.txt --to wapti --out w.txt").status, 2);
  EXPECT_EQ(run("convert --format crfsuite --train train.txt --test test.txt --to wapiti --out w.txt").status,
            2);
}

}  // namespace
}  // namespace proxbench
