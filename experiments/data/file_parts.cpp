#include "experiments/data/file_parts.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <fstream>

#include "core/base/error.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;

bool gzipped(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return in.get() == 0x1f && in.get() == 0x8b;
}

/// Of as many bytes as there are in [begin, end).
std::uint64_t hash_of(const std::vector<FilePart>& parts) {
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
  return hash;
}

std::vector<FilePart> parts_of(const std::vector<std::string>& files, int rank, int count) {
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
    if (gzipped(file)) {
      if (before >= first && before < last) out.push_back({file, 0, size});
    } else if (before < last && before + size > first) {
      out.push_back({file, std::max(first, before) - before, std::min(last, before + size) - before});
    }
    before += size;
  }
  return out;
}

}  // namespace

std::vector<FilePart> own_parts(const std::vector<std::string>& files, const Processes* processes) {
  std::vector<FilePart> out;
  if (processes == nullptr) {
    for (const std::string& file : files) out.push_back({file});
    return out;
  }
  // Each process hashes its part, and that of the next one by its own copy.
  const int count = processes->count(), rank = processes->rank();
  double sizes = 0.0;
  for (const std::string& file : files) {
    std::error_code missing;
    const std::uintmax_t size = fs::file_size(file, missing);
    if (missing) throw Error::in_file(file, 0, missing.message(), "a readable file");
    sizes += static_cast<double>(size);
  }
  const std::vector<double> all_sizes = processes->gather(sizes);
  out = parts_of(files, rank, count);
  const auto number = [](std::uint64_t hash) { return static_cast<double>(hash >> 11); };
  const std::vector<double> own = processes->gather(number(hash_of(out))),
                            next = processes->gather(
                                number(hash_of(parts_of(files, (rank + 1) % count, count))));
  for (int r = 0; r < count; ++r) {
    const auto other = static_cast<std::size_t>((r + 1) % count), at = static_cast<std::size_t>(r);
    if (all_sizes[at] != all_sizes[other] || next[at] != own[other])
      throw Error(fmt::format("{}: processes {} and {} found different files, expected the same data on all",
                              files.front(), r + 1, other + 1),
                  ErrorKind::kInput);
  }
  // The last part goes to the end of its file.
  for (FilePart& part : out)
    if (part.end == fs::file_size(part.path)) part.end = FilePart{}.end;
  return out;
}

}  // namespace proxbench
