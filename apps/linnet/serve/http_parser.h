// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace linnet::command {

/// A whole request.
struct HttpRequest {
  std::string method;
  std::string path;    ///< of the target, without what follows a '?'
  std::string query;   ///< what follows it
  std::string host;    ///< name or address that the client asked for, lower case; "" in HTTP/1.0
  std::string origin;  ///< header Origin, as it came; "" where there is none
  std::string type;    ///< media type in lower case, without parameters
  std::string body;
  bool keep = true;  ///< the client may send another one
  bool old = false;  ///< HTTP/1.0
};

/// Says why a request is refused; the connection cannot go on.
struct HttpRefusal {
  int status;
  std::string sentence;
};

/// Parses the requests of one connection, one after the other. It is strict (RFC 9112): what
/// another parser might take for the end of another request is refused.
class HttpParser {
 public:
  explicit HttpParser(std::size_t most_bytes);
  HttpParser(const HttpParser&) = delete;
  HttpParser& operator=(const HttpParser&) = delete;
  ~HttpParser();

  /// Parses bytes, and removes from them what it has read. Throws HttpRefusal.
  void put(std::string& bytes);
  /// Returns whether something of a request has been read, or stands in `bytes`.
  bool begun(std::string_view bytes) const;
  bool done() const;
  /// Returns once whether the client waits for "100 Continue" before it sends its body.
  bool wants_continue();
  /// Returns how many bytes the body has so far.
  std::size_t body_bytes() const;
  /// Returns the request that is done, and begins the next one.
  HttpRequest take();

 private:
  struct Parts;
  std::size_t most_bytes_;
  std::unique_ptr<Parts> parts_;
};

/// Returns "Not Found" for 404.
std::string http_reason(int status);

/// Returns the host of "host:port", "[::1]:80" or "http://host", in lower case; "" for what is
/// none.
std::string host_of(std::string_view authority);

}  // namespace linnet::command
