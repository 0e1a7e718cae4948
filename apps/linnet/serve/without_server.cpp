// SPDX-License-Identifier: Apache-2.0
// What a build for Windows has instead of http_server.cpp and what it calls: a sentence.
#include "base/check.h"
#include "serve/http_server.h"

namespace linnet::command {

HttpServer::HttpServer(HttpOptions) {
  fail("Windows builds of Linnet have no server; write a page with --html instead");
}
// What its destructor would call.
struct HttpParser::Parts {};
HttpParser::~HttpParser() = default;
void Descriptor::close() {}
HttpServer::~HttpServer() = default;
void HttpServer::get(const std::string&, std::function<HttpAnswer()>) {}
void HttpServer::run_until_signal() {}

HttpAnswer http_error(int status, const std::string& sentence) {
  return {.status = status, .body = sentence};
}

}  // namespace linnet::command
