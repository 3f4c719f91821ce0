#include "experiments/fuzz/seeds.h"

#include <fmt/format.h>
#include <zlib.h>

#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "core/base/random.h"
#include "experiments/data/sequences/letters.h"

namespace proxbench {
namespace {

std::string gzip(const std::string& text) {
  constexpr int kGzipWindow = 15 + 16;
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("deflateInit2 fails");
  std::string out(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  std::string in = text;  // zlib takes no pointer to const
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int status = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) throw std::runtime_error("deflate fails");
  return out;
}

/// Writes the given words in the format of letter.data, one fold for each word, with random pixels.
std::string letter_data(const std::vector<std::string_view>& words) {
  Random random(1);
  std::string out;
  std::int64_t id = 1;
  for (std::size_t w = 0; w < words.size(); ++w) {
    for (std::size_t i = 0; i < words[w].size(); ++i, ++id) {
      const std::int64_t next = i + 1 < words[w].size() ? id + 1 : -1;
      out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}", id, words[w][i], next, w + 1, i + 1, w);
      for (Index pixel = 0; pixel < kGridPixels; ++pixel) out += random.below(8) == 0 ? "\t1" : "\t0";
      out += '\n';
    }
  }
  return out;
}

constexpr const char* kSequences =
    "B\tword=the\tlower:0.5\nI\tword=end\t3\\:4\n\nO\tword=.\tword=.:-2e-3\n\nB\tword=a\\\\b\nI\n\n";
constexpr const char* kDocuments =
    "11 0:100 1:3 5:1 7:2\n12 0:101 5:2\n21 0:102 1:1 9:4.5\n21 0:103 2:0 9:1\n";
constexpr const char* kHierarchy = "1 10 11\n1 10 12\n2 21\n";

}  // namespace

std::vector<std::string> ini_seeds() {
  return {
      "# a comment\n[experiment]\nname = x ; why\nlambda = 1, 2,3\n\n[solver.a]\nlong = a \\\n  b\n",
      "\xEF\xBB\xBF[a]\r\nk=v\r\n[b.c]\r\nk = = #\n\n%%\na.k=w\n%%\nb.c.new = 1, 2\n%%\nnew.key=",
      "k = v\n[\n]\n[]\n[a]\n= v\n[a]\nk\nk=\nk=\n",
  };
}

std::vector<std::string> config_seeds() {
  return {
      "[experiment]\nname = figure\ntitle = One line\nlambda = 100, 10\nthreads = 2\nbackend = tbb\n"
      "tol = 1e-6\ntime_limit = 60\nrepetitions = 3\nseed = 7\ntargets = 1e-2, 1e-6\n"
      "[data.letters]\nformat = ocr\ntrain = /dev/null\nfeatures = pixels\nsplit = fold\n"
      "[data.generated]\nformat = synthetic-ocr\nwords = 50\n"
      "[solver.prox-newton]\nmemory = 20\ntol = 1e-3\n[solver.slow]\nsolver = prox-gd\nmax_iterations = 5\n"
      "[plot]\nx = seconds, passes\nx_max = 10, 0\nquantities = objective\nlog_seconds = yes\n"
      "[paper]\nitem = Figure 1\ncaption = curves\nlambda = 100\nnnz = 1516\naccuracy = 0.87\n",
      "[experiment]\nname = tree\nlambda = 1\nsample_kkt = on\ndecoding = positions\nmu = 0.5\n"
      "[data]\nformat = lshtc\ntrain = /dev/null, /dev/zero\nhierarchy = /dev/null\nkeep_doc_id = true\n"
      "[solver.owl-qn]\n[solver.sgd]\n[solver.bcd]\n"
      "\n%%\nexperiment.lambda=0.5\n%%\nsolver.bcd.tol=1e-4\n%%\nexperiment.title=a new one",
      "[experiment]\nnam = typo\nlambda = 0, x, 1,1\n[data]\nformat = orc\n[solver]\n[solvr.a]\n[plot]\nx = "
      "y\n",
  };
}

std::vector<std::string> ocr_seeds() {
  const std::string words = letter_data({"ab", "c", "ba"});
  return {
      "features=pixels split=random train_words=2 seed=3\n" + words,
      "features=pixels split=fold test_fold=1 bias=false\n" + words,
      "features=degree2 split=none words=1\n" + letter_data({"a", "z"}),
      "features=pixels split=none\n" + words + "\n%%\n" + letter_data({"q"}),
  };
}

std::vector<std::string> lshtc_seeds() {
  const std::string train = kDocuments, tree = kHierarchy;
  return {
      "\n" + train + "\n%%\n" + tree,
      "scale=none\n" + train + "\n%%\n" + tree + "\n%%\n" + "12 0:7 5:1 8:1\n",
      "keep_doc_id=true scale=max\n" + train + "\n%%\n" + tree + "\n%%\n" + "11 0:7 1:1e300\n21 0:8 9:0\n",
      "\n3 0:1 1:1\n\n%%\n1 2 3\n1 4",
  };
}

std::vector<std::string> crfsuite_seeds() {
  const std::string text = kSequences;
  return {
      "\n" + text,
      "\n" + text + "\n%%\n" + "B\tword=the\tnew=1:2\n\nX\tword=end\n",
      fmt::format("\n{}", gzip(text)),
  };
}

std::vector<std::string> conll_seeds() {
  const std::string text = "The DT B\ncat NN I\nsat VB O\n. . O\n\nNo UH O\n";
  return {
      "\n" + text,
      "\n" + text + "\n%%\n" + "A DT B\n\n \ndog\tNN\tI\n: : X\n",
      "attributes=words label_column=1\na B\nb I\n\na|b B\n",
      "word_column=-3 pos_column=1 label_column=3\n1 x NN I ok 7\n2 y NN B ok 8\n",
      "min_count=2 bias=true ends=true lowercase=word,1\n" + text + "\n%%\n" + "the DT B\n" + "\n%%\n" +
          "# words\nU00:%x[-2,0]/%x[ 1,word]\nU01:%X[0,1]  # POS\n*\n",
      "pad=1 pad_symbols=<s>,</s>\n" + text + "\n%%\n\n%%\n" + "U00:%x[-1,pos]|%x[0,0]\nU\nB\n",
      "\n" + text + "\n%%\n\n%%\n" + "U0:%x[0,0]\nB0:%x[0,1]\nU1:%t[0,0,\"a\"]\nU2:%x[0,2]\n",
      fmt::format("\n{}", gzip(text)),
  };
}

std::vector<std::string> rerank_seeds() {
  const std::string text = "2/2/3\tbase:-0.5\tword=the\n1/2/2\tbase:-2\n0/2/0\n\n1/1/1\tlen\\:3\n";
  return {
      "\n" + text,
      "gold=perfect\n" + text + "\n%%\n" + "0/0/0\tbase:1\tnew\n\n1/1/1\n3/4/5\n\n",
      "base_column=true\n0.5\t-3\ta\n0.5\t-4\ta\tb:2\n\n-1e3\t0\n",
      fmt::format("\n{}", gzip(text)),
  };
}

std::vector<std::string> libsvm_seeds() {
  const std::string text = "+1 1:0.5 3:-2\n-1 2:1 3:1e-3\n1.0 1:0\n-1\n";
  return {
      "\n" + text,
      "bias=1 scale=max\n" + text + "\n%%\n" + "1 1:1 9:1\n2 3:4\n",
      "zero_based=true\ncat 0:1 1:1\ndog 5:1\ncat 1000000000:1 9223372036854775807:2\n",
  };
}

std::vector<std::string> arff_seeds() {
  const std::string header =
      "% c\n@relation 'a b'\n@attribute x numeric\n@attribute 'y z' {0,1}\n@attribute a {0,1}\n@attribute b {0,1}\n@data\n";
  return {
      "label_count=2\n" + header + "{0 2.5,3 1}\n0,1,1,0\n{}\n",
      "label_count=2 bias=0\n" + header + "{0 1}\n" + "\n%%\n" + header + "{2 1}\n1,1,1,1\n",
  };
}

std::vector<std::string> crfsparse_seeds() {
  const std::string text = "B 1:1 7:0.5\nI 2:1\n\nO 7:-1 7:2\n\n";
  return {
      "\n" + text,
      "\n" + text + "\n%%\n" + "B 1:1 8:1\nX 2:1\n",
      "\n" + text + "\n%%\n" + "\n%%\n" + "label: B I\nO\nunigram: 1\nbigram:\n",
      "\n11 1:3 5:1\n12 5:2\n21 0:1\n\n%%\n\n%%\n\n%%\n" + std::string(kHierarchy),
  };
}

std::vector<std::string> model_seeds() {
  return {
      "# proxbench model 1\n# format=crfsuite\n# lambda=1\n# labels=B\tI\tO\nunary\tword=the\tB\t0.5\n"
      "unary\ta\\tb\\\\\tI\t-1e-300\npair\tB\tI\t2\npair\tO\tO\t-0.25\n",
      "# proxbench model 1\n# format=lshtc\nunary\t1\t11\t3\nunary\t5\troot\t0\n",
      "# proxbench model 1\r\n# labels=\r\n\r\nunary\t\t\t1\r\n",
  };
}

}  // namespace proxbench
