// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace linnet {

/// A text in UTF-8, and what it was read as.
struct DecodedText {
  std::string text = {};
  std::string note = {};  ///< a sentence on an encoding that was found; empty: UTF-8
};

/// Makes UTF-8 of a file's bytes. `encoding`: a name that iconv knows; empty: UTF-8, UTF-16 with a
/// byte order mark or where every other byte of the beginning is zero, else Windows-1252, in which
/// most letters are of ASCII. Messages call the file `name`. Throws DataError for an encoding that
/// iconv does not know, for bytes that it does not have, and where none was found.
DecodedText decode_text(std::string bytes, const std::string& encoding, const std::string& name);

/// Returns a text that is not UTF-8 from Windows-1252; as it is where that lacks one of its bytes.
std::string from_western(std::string_view bytes);

}  // namespace linnet
