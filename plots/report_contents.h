#pragma once
/// What a report says of experiments, from their stored results. plots/report.cpp makes a page of it.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "experiments/base/table_text.h"
#include "experiments/results/results.h"

namespace proxbench::report {

/// A heading and its paragraphs.
struct Passage {
  std::string heading;
  std::vector<std::string> paragraphs;
};

/// A file, and how the page names it.
struct Link {
  std::filesystem::path file;
  std::string name;
};

/// What is the same in the provenance of all runs, and what is not: a row a run.
struct Origins {
  TextTable same, differing;
};

/// A figure that the page holds.
struct Picture {
  std::string svg, about;
};

/// What the page shows of regularisation paths.
struct Paths {
  std::vector<Picture> pictures;
  TextTable costs;
  std::vector<TextTable> points;  ///< of each path
};

/// How solvers converge after the theory of a paper (plots/theory.h).
struct Theory {
  std::vector<Picture> pictures;
  std::vector<TextTable> tables;
};

/// What the page shows of one experiment.
struct Section {
  std::string id, heading, title;
  bool synthetic = false;
  std::vector<Run> runs;             ///< paths, too
  std::vector<std::string> data;     ///< a description each
  std::string ended;                 ///< how many runs reached their tolerance
  std::vector<Passage> passages;     ///< what is said, the paper first
  std::vector<TextTable> tables;     ///< ours beside the paper's
  std::vector<TextTable> summaries;  ///< times and ends of all runs
  nlohmann::json charts;             ///< null: all runs are paths
  std::optional<Paths> paths;
  std::optional<Theory> theory;
  Origins provenance;
  std::string config;  ///< config.ini; empty: there is none
  std::vector<Link> tables_files, figure_files;
};

/// Of the results of one experiment. Throws Error where they cannot be read.
/// `warn` hears which stored runs are left out.
Section make_section(const std::filesystem::path& results,
                     const std::function<void(const std::string&)>& warn);

/// Links to those that exist of the files name + extension, by name.
std::vector<Link> existing_files(const std::filesystem::path& folder, const std::vector<std::string>& names,
                                 const std::vector<std::string>& extensions);
/// Bytes that are no UTF-8 become the replacement character.
std::string json_text(const nlohmann::json& json);

}  // namespace proxbench::report
