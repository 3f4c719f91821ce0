#pragma once
/// Data sets of documents, each one instance of one position: what `lshtc`, `libsvm`, the hierarchical
/// examples of `crfsparse` and `synthetic-lshtc` have in common.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/processes.h"
#include "core/data/dataset.h"
#include "experiments/base/line_reader.h"
#include "experiments/data/documents/hierarchy_file.h"
#include "experiments/data/readers.h"
#include "experiments/data/sparse_line.h"

namespace proxbench {

/// Documents as their files hold them, one after the other, before their features are numbered.
struct Documents {
  std::vector<std::size_t> begin{0};  ///< document i holds entries [begin[i], begin[i+1]), no feature twice
  std::vector<SparseEntry> entries;   ///< no zero values
  std::vector<Index> gold;            ///< kUnknownOutput only in test data
  std::vector<double> extra;          ///< empty, or one more feature's value a document
  std::uint64_t zero_values = 0;      ///< entries that were dropped

  std::size_t size() const { return gold.size(); }
  /// Ends the document whose entries were added since the last call.
  void end_document(Index output);
};

/// The output that a line's label stands for; throws through in.fail() where there is none.
using OutputOfLabel = std::function<Index(const LineReader& in, std::string_view label)>;

/// Reads files, or parts of them, in order, one document a line; empty lines are skipped. With
/// rules.document_id the ids go to Documents::extra where `keep_id`, else nowhere. Throws Error (kInput) with
/// file and line where a line breaks the rules, holds a feature twice or (keep_id) no id, and on whole files
/// without a document.
Documents read_documents(const std::vector<FilePart>& parts, const SparseLineRules& rules,
                         const OutputOfLabel& output_of, bool keep_id = false);

/// How the values of a feature are scaled.
enum class ValueScale { kNone, kMax };
/// The option `scale` with the choices none and max.
OptionSpec value_scale_option(const std::string& default_value);
ValueScale value_scale(const Options& options);

/// The features of a training set in ascending order, and what divides their values.
class FeatureTable {
 public:
  /// kMax: the largest absolute value of each feature over `train`. The same table on all of several
  /// processes, of all their documents.
  FeatureTable(const Documents& train, ValueScale scale, const Processes* processes = nullptr);

  std::size_t size() const { return ids_.size(); }
  const std::vector<std::int64_t>& ids() const { return ids_; }
  /// The place of a feature in ids().
  std::optional<Index> find(std::int64_t id) const;
  double scaled(Index feature, double value) const {
    return divisor_.empty() ? value : value / divisor_[feature];
  }

 private:
  std::vector<std::int64_t> ids_;
  std::vector<double> divisor_;  ///< empty: values as they are
};

/// Throws Error (kInput) where the training documents read from the files, on all processes, hold no feature
/// at all.
void require_features(const Documents& train, const std::vector<std::string>& paths,
                      const Processes* processes);

/// Throws Error (kInput) for the first test file that shares no feature with the training data. `read` reads
/// the documents of some files.
Documents read_test_documents(const std::vector<std::string>& paths, const FeatureTable& features,
                              const std::function<Documents(const std::vector<FilePart>&)>& read);

/// What documents become a DataPair with.
struct DocumentOutputs {
  std::vector<std::string> names;
  std::shared_ptr<const Hierarchy> hierarchy;  ///< null: flat
};

/// Both sets for the tree oracle, without descriptions. Features are `extra_feature` (where not empty, with
/// the values of Documents::extra), then those of the table, named by their ids. Features unknown to the
/// table are dropped. Dataset::notes counts, zeros left out: "unknown attributes" (entries), "distinct
/// unknown attributes", "unknown labels" (documents), "zero values" (entries dropped), "documents without
/// features" (none but the extra one is left). Of several processes each gives what it has read of the
/// training documents, and gets its share of them (core/data/sharing.h); notes and digest are those of all.
DataPair document_data(Documents train, Documents test, const FeatureTable& features,
                       const DocumentOutputs& outputs, const std::string& extra_feature = "",
                       const Processes* processes = nullptr);

/// "a.txt, b.txt: 1860 documents, ..., HOW" for both sets, test only where it has files.
void describe_documents(const DataFiles& files, const std::string& how, DataPair& data);

/// Reads, numbers, scales and describes documents that are labelled with the leaves of files.hierarchy.
/// `keep_id` as for read_documents(): the id becomes feature "0", moved and divided to [0, 1] over the
/// training set. `options` are the format's. Each of several processes reads a part of the training files.
DataPair read_hierarchy_documents(const DataFiles& files, const Options& options,
                                  const SparseLineRules& rules, ValueScale scale, bool keep_id,
                                  const Processes* processes);

}  // namespace proxbench
