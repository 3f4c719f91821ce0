/// A data format: one sentence per line, each token as word/LABEL, as in the Brown corpus. The features of a
/// token are its word, the previous word and a bias.
#include <core/plugin.h>

#include <cctype>
#include <fstream>
#include <map>
#include <sstream>

using namespace proxbench;

/// Numbers names in order of appearance. A closed set numbers no new names.
class Names {
 public:
  static constexpr Index kNone = static_cast<Index>(-1);
  Index find(const std::string& name, bool closed) {
    if (const auto known = number_.find(name); known != number_.end()) return known->second;
    if (closed) return kNone;
    names.push_back(name);
    return number_[name] = static_cast<Index>(names.size() - 1);
  }
  std::vector<std::string> names;

 private:
  std::map<std::string, Index> number_;
};

class Reader {
 public:
  explicit Reader(const Options& options) : lower_(options.boolean("lower")) {}

  DataPair read(const DataFiles& files) {
    DataPair pair;
    pair.oracle = "chain";
    DesignMatrix::Builder train, test;
    for (const std::string& file : files.train) read_file(file, false, train, pair.train);
    for (const std::string& file : files.test) read_file(file, true, test, pair.test);
    const auto features = static_cast<Index>(features_.names.size());
    pair.train.x = std::move(train).build(features);
    pair.test.x = std::move(test).build(features);
    pair.train.vocabulary = pair.test.vocabulary =
        std::make_shared<const Vocabulary>(Vocabulary{features_.names, labels_.names});
    pair.train.description = "tagged: " + std::to_string(pair.train.instances()) + " sentences";
    return pair;
  }

 private:
  /// `closed`: test data add neither features nor labels.
  void read_file(const std::string& file, bool closed, DesignMatrix::Builder& x, Dataset& data) {
    std::ifstream in(file);
    if (!in) throw Error::in_file(file, 0, "no readable file", "tagged sentences");
    std::string line;
    for (std::size_t number = 1; std::getline(in, line); ++number) {
      std::istringstream tokens(line);
      std::string token, before = "^";
      for (; tokens >> token; data.gold.push_back(labels_.find(token, closed))) {
        const std::size_t slash = token.rfind('/');
        if (slash == 0 || slash == token.npos || slash + 1 == token.size())
          throw Error::in_file(file, number, "token '" + token + "'", "word/LABEL");
        std::string word = token.substr(0, slash);
        token.erase(0, slash + 1);  // the label remains
        if (lower_)
          for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        for (const std::string& name : {std::string("bias"), "word=" + word, "before=" + before})
          if (const Index feature = features_.find(name, closed); feature != Names::kNone)
            x.add(feature, 1.0);
        x.end_position();
        before = word;
      }
      if (data.gold.size() > data.begin.back()) data.begin.push_back(static_cast<Index>(data.gold.size()));
    }
  }

  bool lower_;
  Names features_, labels_;
};

PROXBENCH_PLUGIN(plugin) {
  plugin.formats.add({
      .name = "tagged",
      .help = "word/LABEL word/LABEL ..., a sentence a line",
      .source = "Francis, Kucera, Brown Corpus Manual, 1979",
      .options = {{.name = "lower",
                   .type = OptionType::kBool,
                   .default_value = "false",
                   .help = "words in small letters"}},
      .read = [](const DataFiles& files, const Options& options) { return Reader(options).read(files); },
  });
}
