#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/data/sharing.h"
#include "experiments/base/byte_source.h"
#include "experiments/data/files.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;

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
    const std::uint64_t size = fs::file_size(file);
    if (is_compressed_file(file) || size == 0) {
      if (before >= first && (before < last || rank + 1 == count)) out.push_back({file, 0, size, records});
    } else if (before < last && before + size > first) {
      out.push_back(
          {file, std::max(first, before) - before, std::min(last, before + size) - before, records});
    }
    before += size;
  }
  return out;
}

/// Throws Error unless all processes have the same data. `own` is a size or hash of this process's part.
/// `next` is that of the next process's part, computed from this process's files.
void require_same(const Processes& processes, const std::string& what, double own, double next) {
  const std::vector<double> owns = processes.gather(own), nexts = processes.gather(next);
  for (std::size_t r = 0; r < owns.size(); ++r)
    if (const std::size_t other = (r + 1) % owns.size(); nexts[r] != owns[other])
      throw Error(
          fmt::format("{}: processes {} and {} found different content, expected the same data on all", what,
                      r + 1, other + 1),
          ErrorKind::kInput);
}

/// Compares the files and option texts that each process reads completely.
void require_same_beside(const DataFiles& files, const Options& options, const Processes& processes) {
  std::vector<std::string> whole = files.test;
  if (!files.hierarchy.empty()) whole.push_back(files.hierarchy);
  for (const std::string& file : whole) {
    const double hash = hash_of({{file, 0, size_of(file)}});
    require_same(processes, file, hash, hash);
  }
  for (const auto& [name, text] : options_with_texts(options)) {
    const double hash = exact(XXH3_64bits(text.data(), text.size()));
    require_same(processes, "option " + name, hash, hash);
  }
}

}  // namespace

std::vector<FilePart> own_parts(const DataFiles& files, const Options& options, const Processes* processes,
                                FileRecords records) {
  std::vector<FilePart> out;
  if (processes == nullptr) {
    for (const std::string& file : files.train) out.push_back({.path = file, .records = records});
    return out;
  }
  const int count = processes->count(), rank = processes->rank();
  double sizes = 0.0;
  for (const std::string& file : files.train) sizes += static_cast<double>(size_of(file));
  require_same(*processes, files.train.front(), sizes, sizes);
  // Each process hashes its part, and its own copy of the next process's part.
  out = parts_of(files.train, records, rank, count);
  require_same(*processes, files.train.front(), hash_of(out),
               hash_of(parts_of(files.train, records, (rank + 1) % count, count)));
  require_same_beside(files, options, *processes);
  // The last part goes to the end of its file.
  for (FilePart& part : out)
    if (part.end == fs::file_size(part.path)) part.end = FilePart{}.end;
  return out;
}

void move_to_shares(DesignMatrix::Builder& rows, std::vector<Index>& gold, std::vector<Index>& begin,
                    const Processes& processes) {
  const auto count = static_cast<std::size_t>(processes.count()),
             rank = static_cast<std::size_t>(processes.rank());
  // Process r has read the instances [had[r], had[r+1]); sizes[r] is their number.
  std::vector<std::size_t> had{0}, sizes;
  for (const double instances : processes.gather(static_cast<double>(begin.size() - 1))) {
    sizes.push_back(static_cast<std::size_t>(instances));
    had.push_back(had.back() + sizes.back());
  }
  std::vector<double> own, lengths(had.back());
  for (std::size_t i = 0; i + 1 < begin.size(); ++i) own.push_back(begin[i + 1] - begin[i]);
  processes.gather(own, sizes, lengths);
  std::vector<Index> all{0};
  for (const double length : lengths) all.push_back(all.back() + static_cast<Index>(length));
  const std::vector<Index> owned = shares(all, processes.count());

  const auto both = [&](std::size_t reader, std::size_t owner) {
    const std::size_t first = std::max<std::size_t>(had[reader], owned[owner]),
                      last = std::min<std::size_t>(had[reader + 1], owned[owner + 1]);
    return std::pair(first, std::max(first, last));
  };
  const auto each_row = [&](std::pair<std::size_t, std::size_t> instances, const auto& use) {
    for (Index p = begin[instances.first - had[rank]]; p < begin[instances.second - had[rank]]; ++p) use(p);
  };
  for (std::size_t to = 0; to < count; ++to) {
    const auto moved = both(rank, to);
    if (to == rank || moved.first == moved.second) continue;
    std::vector<double> parcel;  // for each row: gold output, number of entries, entries
    each_row(moved, [&](Index p) {
      parcel.insert(parcel.end(), {static_cast<double>(gold[p]), static_cast<double>(rows.row(p).size())});
      for (std::size_t e = 0; e < rows.row(p).size(); ++e)
        parcel.insert(parcel.end(), {static_cast<double>(rows.row(p)[e]), rows.value(p, e)});
    });
    const std::size_t size = parcel.size();
    processes.send(static_cast<int>(to), std::as_bytes(std::span(&size, 1)));
    processes.send(static_cast<int>(to), std::as_bytes(std::span(parcel)));
  }
  DesignMatrix::Builder kept_rows;
  std::vector<Index> kept_gold;
  for (std::size_t from = 0; from < count; ++from) {
    const auto kept = both(from, rank);
    if (from == rank)
      each_row(kept, [&](Index p) {
        kept_gold.push_back(gold[p]);
        for (std::size_t e = 0; e < rows.row(p).size(); ++e) kept_rows.add(rows.row(p)[e], rows.value(p, e));
        kept_rows.end_position();
      });
    if (from == rank || kept.first == kept.second) continue;
    std::size_t size = 0;
    processes.receive(static_cast<int>(from), std::as_writable_bytes(std::span(&size, 1)));
    std::vector<double> parcel(size);
    processes.receive(static_cast<int>(from), std::as_writable_bytes(std::span(parcel)));
    for (auto number = parcel.begin(); number != parcel.end(); kept_rows.end_position()) {
      kept_gold.push_back(static_cast<Index>(*number++));
      for (double left = *number++; left > 0.0; --left, number += 2)
        kept_rows.add(static_cast<Index>(number[0]), number[1]);
    }
  }
  rows = std::move(kept_rows);
  gold = std::move(kept_gold);
  begin.clear();
  for (std::size_t i = owned[rank]; i <= owned[rank + 1]; ++i) begin.push_back(all[i] - all[owned[rank]]);
}

}  // namespace proxbench
