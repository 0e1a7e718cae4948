// SPDX-License-Identifier: Apache-2.0
#include "formats/encoding.h"

#include <iconv.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/utf8.h"

namespace linnet {
namespace {

constexpr std::size_t kSampled = 4096;  // bytes that tell UTF-16
constexpr std::size_t kPiece = 1 << 16;
constexpr std::string_view kUtf8 = "UTF-8";
constexpr std::string_view kWestern = "WINDOWS-1252";

/// A conversion of iconv, closed at the end.
class Converter {
 public:
  explicit Converter(const std::string& from) : handle_(iconv_open("UTF-8", from.c_str())) {}
  Converter(const Converter&) = delete;
  Converter& operator=(const Converter&) = delete;
  ~Converter() {
    if (known()) iconv_close(handle_);
  }
  bool known() const { return handle_ != reinterpret_cast<iconv_t>(-1); }

  /// Appends UTF-8; returns the place of the first byte that cannot be read, or the size.
  std::size_t convert(std::string_view bytes, std::string& to) {
    std::array<char, kPiece> piece;
    char* from = const_cast<char*>(bytes.data());
    std::size_t left = bytes.size();
    while (left > 0) {
      char* out = piece.data();
      std::size_t room = piece.size();
      const std::size_t result = iconv(handle_, &from, &left, &out, &room);
      to.append(piece.data(), piece.size() - room);
      if (result == static_cast<std::size_t>(-1) && errno != E2BIG) break;
    }
    return bytes.size() - left;
  }

 private:
  iconv_t handle_;
};

/// "UTF-16LE" or "UTF-16BE" where a byte order mark or the zeros of ASCII letters say so.
std::string_view utf16_of(std::string_view bytes) {
  if (bytes.starts_with("\xFF\xFE")) return "UTF-16LE";
  if (bytes.starts_with("\xFE\xFF")) return "UTF-16BE";
  std::array<std::size_t, 2> zeros{};  // at even and at odd places
  const std::size_t sampled = std::min(bytes.size(), kSampled) / 2 * 2;
  for (std::size_t i = 0; i < sampled; ++i) zeros[i % 2] += bytes[i] == '\0' ? 1 : 0;
  if (2 * zeros[1] > sampled / 2 && zeros[0] == 0) return "UTF-16LE";
  if (2 * zeros[0] > sampled / 2 && zeros[1] == 0) return "UTF-16BE";
  return {};
}

/// Whether bytes beyond ASCII stand between letters of ASCII, as in languages of Western Europe.
bool looks_western(std::string_view bytes) {
  constexpr std::size_t kLeastPairs = 4;
  std::size_t ascii = 0;
  std::size_t letters = 0;  // beyond ASCII
  std::size_t beyond = 0;
  std::size_t pairs = 0;  // of neighbours beyond ASCII
  bool last = false;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    const bool here = byte >= 0x80;
    ascii += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ? 1 : 0;
    letters += byte >= 0xC0 ? 1 : 0;
    beyond += here ? 1 : 0;
    pairs += here && last ? 1 : 0;
    last = here;
  }
  // Names of columns in English may stand above words of another script.
  return 4 * letters <= ascii + letters && (pairs < kLeastPairs || 2 * pairs <= beyond);
}

}  // namespace

DecodedText decode_text(std::string bytes, const std::string& encoding, const std::string& name) {
  DecodedText decoded;
  std::string from = encoding;
  if (from.empty()) {
    from = utf16_of(bytes);
    if (from.empty() && is_utf8(bytes)) from = kUtf8;
    if (from.empty()) {
      require<DataError>(bytes.find('\0') == std::string::npos && looks_western(bytes),
                         "'{}' is not UTF-8, and its encoding was not recognised; --encoding says "
                         "it, e.g. cp1251, gbk or shift_jis",
                         name);
      from = kWestern;
    }
    if (from != kUtf8) {
      decoded.note = fmt::format("'{}' is read as {} (--encoding says otherwise)", name, from);
    }
  }
  if (from == kUtf8) {
    decoded.text = std::move(bytes);
    return decoded;
  }
  Converter converter(from);
  require<DataError>(converter.known(),
                     "the encoding '{}' is not known; expected a name such as "
                     "utf-8, utf-16, cp1252, cp1251, gbk or shift_jis (see iconv --list)",
                     from);
  decoded.text.reserve(bytes.size());
  const std::size_t read = converter.convert(bytes, decoded.text);
  const auto line = 1 + std::count(decoded.text.begin(), decoded.text.end(), '\n');
  require<DataError>(read == bytes.size(),
                     "line {} of '{}' is not {}; --encoding says another one, "
                     "e.g. cp1251, gbk or shift_jis",
                     line, name, from);
  return decoded;
}

std::string from_western(std::string_view bytes) {
  try {
    return decode_text(std::string(bytes), "WINDOWS-1252", "").text;
  } catch (const DataError&) {
    return std::string(bytes);
  }
}

}  // namespace linnet
