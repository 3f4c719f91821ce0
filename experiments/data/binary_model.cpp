#include "experiments/data/binary_model.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <bit>
#include <cstddef>
#include <cstring>
#include <utility>

#include "core/base/error.h"

namespace proxbench {
namespace {

constexpr char kMagic[] = "\x89pbm\r\n\x1a\n";  // changed if a program treats the file as text
constexpr std::uint32_t kByteOrder = 0x01020304, kVersion = 1;
constexpr std::size_t kUnit = 8;

/// The first bytes of a file. Lines (padded to kUnit), rows and slots of the table follow.
struct Head {
  char magic[sizeof kMagic - 1];
  std::uint32_t byte_order, version;
  std::uint64_t size;                ///< of the file, in bytes
  std::uint64_t checksum;            ///< XXH3 of all bytes from `lines` on
  std::uint64_t lines, rows, slots;  ///< sizes in bytes
};
constexpr std::size_t kChecked = offsetof(Head, lines);

std::uint64_t padded_size(std::uint64_t size) {
  return (size + kUnit - 1) / kUnit * kUnit;
}

std::uint64_t checksum_of(std::string_view bytes) {
  return XXH3_64bits(bytes.data() + kChecked, bytes.size() - kChecked);
}

}  // namespace

bool is_binary_model(std::string_view bytes) {
  return bytes.starts_with(std::string_view(kMagic, 4)) ||
         bytes.substr(0, sizeof(Head)).find('\0') != bytes.npos;
}

BinaryModel parse_binary_model(std::string_view bytes, std::shared_ptr<const void> owner,
                               const std::string& source) {
  constexpr const char* kAgain = "copy the file again, or train the model again";
  const auto fail = [&](const std::string& found, const std::string& expected) {
    throw Error::in_file(source, 0, found, expected);
  };
  Head head{};
  std::memcpy(&head, bytes.data(), std::min(sizeof head, bytes.size()));
  if (std::memcmp(head.magic, kMagic, sizeof head.magic) != 0)
    fail("neither a text nor the first bytes of a binary model", fmt::format("a model: {}", kAgain));
  if (bytes.size() < sizeof head)
    fail(fmt::format("{} bytes", bytes.size()), fmt::format("a whole binary model: {}", kAgain));
  if (head.byte_order != kByteOrder)
    fail(head.byte_order == __builtin_bswap32(kByteOrder)
             ? "a binary model of a machine of another byte order"
             : "a damaged binary model",
         fmt::format("this machine's byte order: `proxbench convert --model M.pbm --out M.tsv` there makes a "
                     "text; or {}",
                     kAgain));
  if (head.version != kVersion)
    fail(fmt::format("a binary model of version {}", head.version),
         fmt::format("version {}: `proxbench convert --model M.pbm --out M.tsv` of the program that wrote it "
                     "makes a text; or {}",
                     kVersion, kAgain));
  if (head.size != bytes.size())
    fail(fmt::format("{} bytes", bytes.size()),
         fmt::format("{} as its head says: the file was cut or something was added; {}", head.size, kAgain));
  if (head.checksum != checksum_of(bytes))
    fail("other content than was written",
         fmt::format("what its checksum {:016x} was made of: {}", head.checksum, kAgain));
  const std::uint64_t rows = sizeof head + padded_size(head.lines), slots = rows + head.rows;
  if (slots + head.slots != bytes.size() || (head.slots != 0 && !std::has_single_bit(head.slots)))
    fail("parts that do not make up the file", kAgain);
  return {bytes.substr(sizeof head, head.lines),
          WeightTable({bytes.data() + rows, head.rows},
                      {reinterpret_cast<const WeightTable::Slot*>(bytes.data() + slots),
                       head.slots / sizeof(WeightTable::Slot)},
                      std::move(owner))};
}

std::string binary_model_bytes(const BinaryModel& model) {
  const auto rows = model.unary.rows();
  const auto slots = std::as_bytes(model.unary.slots());
  Head head{.magic = {},
            .byte_order = kByteOrder,
            .version = kVersion,
            .size = sizeof head + padded_size(model.lines.size()) + rows.size() + slots.size(),
            .checksum = 0,
            .lines = model.lines.size(),
            .rows = rows.size(),
            .slots = slots.size()};
  std::memcpy(head.magic, kMagic, sizeof head.magic);
  std::string out(head.size, '\0');
  char* at = out.data() + sizeof head;
  std::memcpy(at, model.lines.data(), model.lines.size());
  at += padded_size(model.lines.size());
  if (!rows.empty()) std::memcpy(at, rows.data(), rows.size());
  if (!slots.empty()) std::memcpy(at + rows.size(), slots.data(), slots.size());
  std::memcpy(out.data(), &head, sizeof head);
  head.checksum = checksum_of(out);
  std::memcpy(out.data(), &head, sizeof head);
  return out;
}

}  // namespace proxbench
