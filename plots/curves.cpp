#include "plots/curves.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/options.h"
#include "plots/colours.h"
#include "plots/facts.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;

/// Ends the names of figures with seconds on a log axis.
constexpr const char* kLogSuffix = "-logx";
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

constexpr std::array<int, 8> kPointTypes = {7, 5, 9, 13, 11, 15, 2, 3};
constexpr std::array<int, 5> kDashTypes = {1, 2, 4, 5, 3};
/// Longest line of a title or caption, in characters of its small font.
constexpr std::size_t kLineLength = 92;
/// A log axis of at most this many decades has ticks within each.
constexpr double kFewDecades = 2.5;

using Group = std::vector<const StoredRun*>;

/// One kind of figure: what is on the vertical axis.
struct Quantity {
  std::string name;    ///< end of the file name
  std::string title;   ///< of the plot
  std::string axis;    ///< of the vertical axis
  std::string column;  ///< in the .tsv
  bool log_axis;
  double floor;  ///< values at or below are not drawn
  std::function<double(const StoredRun&, const Sample&)> value;
};

/// What is on the horizontal axis.
struct Abscissa {
  std::string name;    ///< in the options, and of the axis
  std::string suffix;  ///< of the file names
  int column;          ///< in the .tsv
  double (*value)(const Sample&);
  bool log_axis = false;
  double max = 0.0;  ///< 0: where the runs end
};

const std::vector<Abscissa>& abscissas() {
  static const std::vector<Abscissa> all = {
      {"seconds", "", 3, [](const Sample& s) { return s.seconds; }},
      {"passes", "-passes", 6, [](const Sample& s) { return s.passes; }},
      {"iterations", "-iterations", 5, [](const Sample& s) { return static_cast<double>(s.iteration); }}};
  return all;
}

double relative_difference(const StoredRun& run, const Sample& sample) {
  return (sample.objective - run.reference_objective) / run.reference_objective;
}

std::vector<Quantity> quantities(double floor) {
  constexpr double kNoFloor = -std::numeric_limits<double>::infinity();
  return {{"objective", "Relative objective difference", "(f − f*) / f*", "relative_difference", true, floor,
           relative_difference},
          {"nnz", "Nonzero weights", "nonzeros", "nnz", true, 0.0,
           [](const StoredRun&, const Sample& s) { return static_cast<double>(s.nnz); }},
          {"accuracy", "Test accuracy", "accuracy per position", "test_accuracy", false, kNoFloor,
           [](const StoredRun&, const Sample& s) { return s.test_accuracy; }}};
}

// ---- text

/// A gnuplot string constant; single quotes, in which gnuplot substitutes nothing.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\n')
      out += "'.\"\\n\".'";
    else if (c == '\'')
      out += "''";
    else
      out += c;
  }
  return out + "'";
}

/// The text with the marks of gnuplot's enhanced mode made literal.
std::string literal(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("{}^_@&~\\").find(c) != std::string_view::npos) out += '\\';
    out += c == '\n' || c == '\r' || c == '\t' ? ' ' : c;
  }
  return out;
}

/// Lines of at most kLineLength characters, broken at newlines and spaces.
std::vector<std::string> wrapped(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream paragraphs(text);
  for (std::string paragraph; std::getline(paragraphs, paragraph);) {
    std::istringstream words(paragraph);
    std::string line;
    for (std::string word; words >> word;) {
      if (!line.empty() && line.size() + 1 + word.size() > kLineLength)
        lines.push_back(std::exchange(line, ""));
      line += (line.empty() ? "" : " ") + word;
    }
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

std::string small_lines(const std::string& text) {
  std::string out;
  for (const std::string& line : wrapped(text)) out += "\n{/*0.75 " + literal(line) + "}";
  return out;
}

std::string number(double x) {
  return std::isfinite(x) ? fmt::format("{}", x) : "";
}

// ---- what the title and the caption say

std::string title_of(const Group& group, const Quantity& quantity) {
  std::set<std::string> descriptions;
  for (const StoredRun* run : group) descriptions.insert(run->description);
  std::string data = group.front()->description;
  if (descriptions.size() > 1) data += fmt::format(" (and {} more like it)", descriptions.size() - 1);

  std::string size;
  const auto add = [&](const char* before, const char* key, const char* after) {
    const std::string value = distinct_counts(group, key);
    if (!value.empty()) size += (size.empty() ? "" : ", ") + (before + value) + after;
  };
  add("", "instances", " instances");
  add("d = ", "d", "");
  add("threads: ", "threads", "");

  return fmt::format("{{/:Bold {}{}}}: {}, λ = {}", says_synthetic(data) ? "SYNTHETIC DATA: " : "",
                     literal(quantity.title), literal(group.front()->dataset), group.front()->lambda) +
         small_lines(data) + small_lines(size);
}

/// What is known of f*, what is not drawn, and who went below f*.
std::string caption_of(const Group& group, const Quantity& quantity) {
  if (quantity.name == "nnz") return "Nothing is drawn while no weight differs from zero.";
  if (quantity.name != "objective") return "";

  std::map<double, double> references;  // f* -> its bound
  std::map<std::string, double> below;  // label -> how far
  for (const StoredRun* run : group) {
    if (!std::isfinite(run->reference_objective)) continue;
    references[run->reference_objective] = reference_bound(*run);
    for (const Sample& sample : run->trace) {
      const double difference = relative_difference(*run, sample);
      if (difference < -quantity.floor) below[run->label] = std::min(below[run->label], difference);
    }
  }
  std::string out;
  for (const auto& [objective, bound] : references) {
    out += fmt::format("{}f* = {:.10g}", out.empty() ? "" : "; ", objective);
    if (std::isfinite(bound)) out += fmt::format(" (proven to a relative accuracy of {:.1e})", bound);
  }
  out += fmt::format("\nDifferences <= {:g} are rounding: not drawn.", quantity.floor);
  for (const auto& [label, difference] : below)
    out += fmt::format(" {} goes below f* by {:.1e}.", label, -difference);
  return out;
}

// ---- axes

struct Range {
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  bool empty() const { return !(min <= max); }
  void add(double x) {
    min = std::min(min, x);
    max = std::max(max, x);
  }
};

bool drawn(const Quantity& quantity, const Abscissa& abscissa, double x, double value) {
  return std::isfinite(value) && value > quantity.floor && (!abscissa.log_axis || x > 0.0) &&
         (abscissa.max == 0.0 || x <= abscissa.max);
}

/// Of what is drawn.
struct Ranges {
  Range x, values;
};

Ranges ranges_drawn(const Group& group, const Quantity& quantity, const Abscissa& abscissa) {
  Ranges ranges;
  for (const StoredRun* run : group)
    for (const Sample& sample : run->trace) {
      const double x = abscissa.value(sample), value = quantity.value(*run, sample);
      if (!drawn(quantity, abscissa, x, value)) continue;
      ranges.x.add(x);
      ranges.values.add(value);
    }
  return ranges;
}

/// Range and ticks of a log axis ("x" or "y"): a tick a decade in gnuplot's `format`, or at 1, 2, 5 where
/// there are few decades.
std::string log_axis(const char* axis, const Range& range, double margin, const char* format) {
  const double low = range.min / margin, high = range.max * margin;
  std::string out = fmt::format("set logscale {0}\nset {0}range [{1:.6g}:{2:.6g}]\n", axis, low, high);
  if (std::log10(high / low) > kFewDecades)
    return out + fmt::format("set format {0} {1}\nset {0}tics 10\n", axis, format);
  const std::vector<int> digits =
      high / low > 10.0 ? std::vector<int>{1, 2, 5} : std::vector<int>{1, 2, 3, 4, 5, 6, 8};
  std::string ticks;
  for (int decade = static_cast<int>(std::floor(std::log10(low))); decade <= std::log10(high); ++decade)
    for (const int digit : digits) {
      const double tick = digit * std::pow(10.0, decade);
      if (tick >= low && tick <= high)
        ticks += fmt::format(
            "{}'{}' {:.0e}", ticks.empty() ? "" : ", ",
            tick >= 1.0 && tick < 1e7 ? with_commas(std::llround(tick)) : fmt::format("{:g}", tick), tick);
    }
  return out + fmt::format("set {}tics ({})\n", axis, ticks);
}

// ---- files

/// A block of rows a run, two blank lines between blocks; one header line.
std::string data_text(const Group& group, const Quantity& quantity) {
  std::string out = fmt::format("label\trepetition\tseconds\t{}\titeration\tpasses\n", quantity.column);
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (i > 0) out += "\n\n";
    for (const Sample& sample : group[i]->trace)
      out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", file_name_part(group[i]->label), group[i]->repetition,
                         number(sample.seconds), number(quantity.value(*group[i], sample)), sample.iteration,
                         number(sample.passes));
  }
  return out;
}

/// The plot command. `styles`: the place of each label among all labels of the runs.
std::string plot_command(const std::string& name, const Group& group, const Quantity& quantity, int x_column,
                         const std::map<std::string, std::size_t>& styles, double smallest) {
  const std::string shown =
      fmt::format("{}:{}", x_column, std::isfinite(quantity.floor) ? "($4 > floor ? $4 : 1/0)" : "4");
  std::vector<std::string> curves;
  std::set<std::string> named;
  double bound = kNaN;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const std::string& label = group[i]->label;
    const std::size_t style = styles.at(label);
    const std::size_t round = style / kColours.size();
    curves.push_back(fmt::format(
        "{} skip 1 index {} using {} {} with linespoints linecolor rgb '{}' linewidth 2 dashtype {} "
        "pointtype {} pointsize 0.9 pointnumber 12",
        quoted(name + ".tsv"), i, shown, named.insert(label).second ? "title " + quoted(label) : "notitle",
        kColours[style % kColours.size()], kDashTypes[round % kDashTypes.size()],
        kPointTypes[(style + round) % kPointTypes.size()]));
    bound = std::fmax(bound, reference_bound(*group[i]));
  }
  if (quantity.name == "objective" && bound > smallest)
    curves.push_back(fmt::format(
        "{:.3g} with lines title 'accuracy of f*' linecolor rgb '#7F7F7F' linewidth 1.5 dashtype 3", bound));
  return fmt::format("plot {}\n", fmt::join(curves, ", \\\n     "));
}

std::string script_text(const std::string& name, const Group& group, const Quantity& quantity,
                        const Abscissa& abscissa, const std::map<std::string, std::size_t>& styles) {
  const Ranges ranges = ranges_drawn(group, quantity, abscissa);

  std::string out = fmt::format("# Draws {0}.svg, .pdf and .png from {0}.tsv: gnuplot {0}.gp\n", name);
  out +=
      "set encoding utf8\n"
      "set datafile separator \"\\t\"\n"
      "set border 3 linewidth 1.2\n"
      "set tics nomirror out\n"
      "set grid xtics ytics linetype 1 linecolor rgb '#E3E3E3' linewidth 1\n"
      "set key outside right top vertical Left reverse noenhanced samplen 2.5 spacing 1.3\n";
  out += fmt::format("set title {}\n", quoted(title_of(group, quantity)));
  out += fmt::format("set ylabel {}\n", quoted(quantity.axis));
  out += fmt::format("set xlabel {}\n", quoted(abscissa.name + small_lines(caption_of(group, quantity))));
  if (abscissa.log_axis)
    out += log_axis("x", ranges.x, 1.1, "'%g'");
  else
    out += fmt::format("set xrange [0:{}]\n", abscissa.max > 0.0 ? fmt::format("{:g}", abscissa.max) : "*");
  if (quantity.log_axis) out += log_axis("y", ranges.values, 1.5, "'10^{%L}'");
  if (std::isfinite(quantity.floor)) out += fmt::format("floor = {:g}\n", quantity.floor);

  const std::array<std::pair<const char*, const char*>, 3> terminals = {
      {{"svg", "svg enhanced size 960,640 dynamic font 'DejaVu Sans,16' background rgb 'white'"},
       {"pdf", "pdfcairo enhanced size 18cm,12cm font 'DejaVu Sans,11'"},
       {"png", "pngcairo enhanced size 1440,960 font 'DejaVu Sans,18' linewidth 1.5"}}};
  std::string draw = plot_command(name, group, quantity, abscissa.column, styles, ranges.values.min);
  for (const auto& [extension, terminal] : terminals) {
    out +=
        fmt::format("\nset terminal {}\nset output {}\n{}", terminal, quoted(name + "." + extension), draw);
    draw = "replot\n";
  }
  return out + "set output\n";
}

/// Runs `gnuplot SCRIPT` in the folder.
void run_gnuplot(const fs::path& folder, const std::string& script) {
  const fs::path log = fs::absolute(folder / "gnuplot.log");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  std::string program = "gnuplot", argument = script;
  char* const arguments[] = {program.data(), argument.data(), nullptr};
  pid_t child = 0;
  const int failed = posix_spawnp(&child, program.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed == ENOENT)
    throw Error(
        "cannot draw figures: gnuplot was not found on PATH (Debian package gnuplot-nox; "
        "scripts/install-deps)");
  if (failed != 0) throw Error(std::string("cannot start gnuplot: ") + std::strerror(failed));

  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  std::ifstream in(log);
  const std::string said{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  throw Error("gnuplot failed on " + script + ": " + said);
}

void rename_into(const fs::path& from, const fs::path& folder) {
  std::error_code error;
  fs::rename(from, folder / from.filename(), error);
  if (error) throw Error("cannot write " + (folder / from.filename()).string() + ": " + error.message());
}

/// A folder that goes away with its contents.
struct ScratchFolder {
  explicit ScratchFolder(const fs::path& parent) : path(parent / fmt::format(".drawing-{}", getpid())) {
    std::error_code error;
    fs::create_directories(path, error);
    if (error) throw Error("cannot write below " + parent.string() + ": " + error.message());
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  fs::path path;
};

/// Writes one figure's five files; images appear under their names only once they are whole.
fs::path write_figure(const fs::path& figures, const std::string& name, const std::string& script,
                      const std::string& data) {
  const ScratchFolder scratch(figures);
  for (const auto& [extension, text] : {std::pair{".gp", &script}, std::pair{".tsv", &data}}) {
    write_file_atomically(scratch.path / (name + extension), *text);
    write_file_atomically(figures / (name + extension), *text);
  }
  run_gnuplot(scratch.path, name + ".gp");
  for (const char* extension : {".svg", ".pdf", ".png"})
    rename_into(scratch.path / (name + extension), figures);
  return figures / (name + ".png");
}

std::string figure_name(const std::string& dataset, double lambda, const Quantity& quantity,
                        const std::string& suffix) {
  return file_name_part(fmt::format("{}-lambda{}-{}{}", dataset, lambda, quantity.name, suffix));
}

/// The members of `all` with these names, in the order of the names.
template <class Named>
std::vector<Named> chosen(const std::vector<Named>& all, const std::vector<std::string>& names,
                          const char* option) {
  std::vector<std::string> known;
  for (const Named& one : all) known.push_back(one.name);
  std::vector<Named> out;
  for (const std::string& name : names) {
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end())
      throw Error::usage(fmt::format("{} = {}: expected one of {}{}", option, name, fmt::join(known, ", "),
                                     did_you_mean(name, known)));
    out.push_back(all[static_cast<std::size_t>(found - known.begin())]);
  }
  return out;
}

std::vector<Abscissa> chosen_abscissas(const CurveOptions& options) {
  std::vector<Abscissa> out = chosen(abscissas(), options.x, "x");
  if (!options.x_max.empty() && options.x_max.size() != out.size())
    throw Error::usage(
        fmt::format("x_max: found {} values, expected one for each of x", options.x_max.size()));
  for (std::size_t i = 0; i < options.x_max.size(); ++i) out[i].max = options.x_max[i];
  for (Abscissa& one : out) {
    if (one.name != "seconds" || !options.log_seconds) continue;
    one.log_axis = true;
    one.suffix = kLogSuffix;
  }
  return out;
}

}  // namespace

double reference_bound(const StoredRun& run) {
  const auto about = run.summary.find("run");
  if (about == run.summary.end()) return kNaN;
  const auto at_zero = about->find("kkt_at_zero");
  if (at_zero == about->end() || !at_zero->is_number()) return kNaN;
  return 2.0 * run.reference_kkt * at_zero->get<double>() / run.lambda;
}

std::vector<std::string> curve_names(const std::vector<StoredRun>& runs) {
  std::vector<std::string> suffixes{kLogSuffix};
  for (const Abscissa& abscissa : abscissas()) suffixes.push_back(abscissa.suffix);
  std::sort(suffixes.begin(), suffixes.end(),
            [](const auto& a, const auto& b) { return a.size() < b.size(); });
  std::vector<std::string> names;
  std::set<std::pair<std::string, double>> seen;
  for (const StoredRun& run : runs) {
    if (!seen.insert({run.dataset, run.lambda}).second) continue;
    for (const Quantity& quantity : quantities(CurveOptions{}.floor))
      for (const std::string& suffix : suffixes)
        names.push_back(figure_name(run.dataset, run.lambda, quantity, suffix));
  }
  return names;
}

std::vector<fs::path> make_curves(const std::vector<StoredRun>& runs, const fs::path& figures,
                                  const CurveOptions& options) {
  if (runs.empty()) throw Error::usage("no runs to draw");
  if (!(options.floor > 0.0))
    throw Error::usage(fmt::format("floor = {}: violated constraint floor > 0", options.floor));

  const std::vector<Abscissa> axes = chosen_abscissas(options);
  const std::vector<Quantity> drawn_quantities =
      chosen(quantities(options.floor), options.quantities, "quantities");

  std::map<std::string, std::size_t> styles;
  std::map<std::pair<std::string, double>, Group> groups;
  for (const StoredRun& run : runs) {
    styles.try_emplace(run.label, styles.size());
    groups[{run.dataset, run.lambda}].push_back(&run);
  }

  std::vector<fs::path> written;
  for (const auto& [key, group] : groups)
    for (const Quantity& quantity : drawn_quantities)
      for (const Abscissa& abscissa : axes) {
        if (ranges_drawn(group, quantity, abscissa).x.empty()) continue;
        const std::string name = file_name_part(
            fmt::format("{}-lambda{}-{}{}", key.first, key.second, quantity.name, abscissa.suffix));
        written.push_back(write_figure(figures, name, script_text(name, group, quantity, abscissa, styles),
                                       data_text(group, quantity)));
      }
  return written;
}

}  // namespace proxbench
