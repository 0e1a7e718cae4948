// SPDX-License-Identifier: Apache-2.0
#include "datasets/download.h"

#include <curl/curl.h>

#include <memory>
#include <new>
#include <utility>

#include "base/check.h"

namespace linnet {
namespace {

struct Received {
  std::string bytes;
  std::size_t limit;
  bool too_long = false;
};

/// Called by curl with each piece; a number other than the piece's size stops it.
std::size_t receive(char* piece, std::size_t, std::size_t size, void* target) noexcept {
  auto& received = *static_cast<Received*>(target);
  received.too_long = size > received.limit - received.bytes.size();
  if (received.too_long) return 0;
  try {
    received.bytes.append(piece, size);
  } catch (const std::bad_alloc&) {
    return 0;
  }
  return size;
}

}  // namespace

std::string download(const std::string& url, std::size_t limit) {
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(curl_easy_init(),
                                                                 curl_easy_cleanup);
  require(curl != nullptr, "cannot download '{}': libcurl cannot start", url);
  Received received{{}, limit};
  char reason[CURL_ERROR_SIZE] = {};
  CURL* handle = curl.get();
  curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, reason);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, receive);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &received);
  curl_easy_setopt(handle, CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(handle, CURLOPT_MAXREDIRS, 5L);
  // A server must not redirect to a file of this machine.
#if LIBCURL_VERSION_NUM >= 0x075500
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https,file");
  curl_easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
#else
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS | CURLPROTO_FILE);
  curl_easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
  // Signals belong to the program, not to a library that resolves names.
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT, 15L);
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, 1000L);
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, 30L);
  curl_easy_setopt(handle, CURLOPT_TIMEOUT, 900L);
  const CURLcode code = curl_easy_perform(handle);
  require<DataError>(!received.too_long, "cannot download '{}': it has more than {} bytes", url,
                     limit);
  require<DataError>(code == CURLE_OK, "cannot download '{}': {}", url,
                     reason[0] != '\0' ? reason : curl_easy_strerror(code));
  return std::move(received.bytes);
}

}  // namespace linnet
