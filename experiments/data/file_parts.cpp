#include "experiments/data/file_parts.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <fstream>

#include "experiments/base/byte_source.h"
#include "experiments/base/paths.h"
#include "experiments/data/files.h"

namespace proxbench {
namespace {

/// The bits of a hash that fit into a double.
double exact(std::uint64_t hash) {
  return static_cast<double>(hash >> 11);
}

std::uint64_t size_of(const std::string& file) {
  std::error_code missing;
  const std::uintmax_t size = fs::file_size(file, missing);
  if (missing) throw Error::in_file(file, 0, missing.message(), "a readable file");
  return size;
}

/// Hashes the bytes [begin, end) of all parts.
double hash_of(const std::vector<FilePart>& parts) {
  std::uint64_t hash = 0;
  std::vector<char> block(1 << 18);
  for (const FilePart& part : parts) {
    std::ifstream in(part.path, std::ios::binary);
    in.seekg(static_cast<std::streamoff>(part.begin));
    for (std::uint64_t left = part.end - part.begin; left > 0 && in;) {
      in.read(block.data(), static_cast<std::streamsize>(std::min<std::uint64_t>(left, block.size())));
      hash = XXH3_64bits_withSeed(block.data(), static_cast<std::size_t>(in.gcount()), hash);
      left -= std::min(left, static_cast<std::uint64_t>(in.gcount()));
    }
  }
  return exact(hash);
}

/// Process `rank`'s part of the bytes of all files.
std::vector<FilePart> parts_of(const std::vector<std::string>& files, FileRecords records, int rank,
                               int count) {
  std::uint64_t total = 0;
  for (const std::string& file : files) total += fs::file_size(file);
  const auto cut = [&](int r) {
    return total / static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(r);
  };
  const std::uint64_t first = cut(rank), last = rank + 1 == count ? total : cut(rank + 1);
  std::vector<FilePart> out;
  std::uint64_t before = 0;
  for (const std::string& file : files) {
    const std::uint64_t size = fs::file_size(file), end = before + size;
    const bool empty = size == 0 && before >= first && (before < last || rank + 1 == count);
    if (empty || (before < last && end > first))
      out.push_back({file, std::max(first, before) - before, std::min(last, end) - before, records});
    before = end;
  }
  return out;
}

/// Throws Error unless all processes have the same data. `own` is a size or hash of this process's part.
/// `next` is the size or hash of the next process's part, computed from this process's files.
void require_same(const Processes& processes, const std::string& what, double own, double next) {
  const std::vector<double> owns = processes.gather(own), nexts = processes.gather(next);
  for (std::size_t r = 0; r < owns.size(); ++r)
    if (const std::size_t other = (r + 1) % owns.size(); nexts[r] != owns[other])
      throw Error(fmt::format("{}: processes {} and {} found different content, expected the same data on all",
                              what, r + 1, other + 1),
                  ErrorKind::kInput);
}

}  // namespace

void require_same(const Processes& processes, const std::string& what, double own) {
  require_same(processes, what, own, own);
}

void require_same_files(const DataFiles& files, const Options& options, const Processes& processes) {
  double sizes = 0.0;
  for (const std::string& file : files.train) sizes += static_cast<double>(size_of(file));
  require_same(processes, files.train.front(), sizes);
  // Each process hashes its part, and its own copy of the next process's part.
  const int count = processes.count(), rank = processes.rank();
  const auto hash = [&](int r) { return hash_of(parts_of(files.train, FileRecords::kLine, r, count)); };
  require_same(processes, files.train.front(), hash(rank), hash((rank + 1) % count));
  std::vector<std::string> whole = files.test;
  if (!files.hierarchy.empty()) whole.push_back(files.hierarchy);
  for (const std::string& file : whole) require_same(processes, file, hash_of({{file, 0, size_of(file)}}));
  for (const auto& [name, text] : options_with_texts(options))
    require_same(processes, "option " + name, exact(XXH3_64bits(text.data(), text.size())));
}

std::vector<FilePart> own_parts(const DataFiles& files, const Options& options, const Processes* processes,
                                FileRecords records) {
  std::vector<FilePart> out;
  if (processes == nullptr) {
    for (const std::string& file : files.train) out.push_back({.path = file, .records = records});
    return out;
  }
  require_same_files(files, options, *processes);
  out = parts_of(files.train, records, processes->rank(), processes->count());
  // The last part goes to the end of its file.
  for (FilePart& part : out)
    if (part.end == fs::file_size(part.path)) part.end = FilePart{}.end;
  return out;
}

}  // namespace proxbench
