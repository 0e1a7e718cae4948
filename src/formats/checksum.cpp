// SPDX-License-Identifier: Apache-2.0
#include "formats/checksum.h"

#include <openssl/evp.h>

#include <array>

#include "base/check.h"

namespace linnet {

std::string sha256(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  require(EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) == 1,
          "OpenSSL cannot compute a SHA-256 checksum");
  std::string text;
  for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

}  // namespace linnet
