// SPDX-License-Identifier: Apache-2.0
#include "serve/http_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <utility>

#include "base/ascii.h"

namespace linnet::command {
namespace {

namespace http = boost::beast::http;
using Fields = http::request<http::string_body>;

constexpr std::uint32_t kMostHeader = 16 << 10;  // bytes

std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

/// Returns the only value of a header; "" where there is none. Throws HttpRefusal for several.
std::string_view only(const Fields& fields, http::field name) {
  const auto [first, last] = fields.equal_range(name);
  if (first == last) return "";
  if (std::next(first) != last) {
    throw HttpRefusal{400, fmt::format("the header {} stands twice in the request",
                                       view(http::to_string(name)))};
  }
  return view(first->value());
}

/// Throws HttpRefusal for what two parsers may read in two ways, with which a request could be
/// smuggled past a proxy. The library has refused lengths that contradict each other.
void check_header(const Fields& fields) {
  if (only(fields, http::field::host).empty() && fields.version() == 11) {
    throw HttpRefusal{400, "a request of HTTP/1.1 needs the header Host"};
  }
  const std::string_view length = only(fields, http::field::content_length);
  if (!std::ranges::all_of(length, [](char c) { return c >= '0' && c <= '9'; })) {
    throw HttpRefusal{400, "the header Content-Length is not a whole number"};
  }
  if (fields.count(http::field::transfer_encoding) == 0) return;
  const std::string_view coding = only(fields, http::field::transfer_encoding);
  if (fields.version() == 10 || fields.count(http::field::content_length) > 0) {
    throw HttpRefusal{400, "a request of HTTP/1.1 has either Transfer-Encoding or Content-Length"};
  }
  if (lower_case(coding) != "chunked") {
    throw HttpRefusal{501, "the server knows no Transfer-Encoding but chunked"};
  }
}

HttpRefusal refusal(const boost::system::error_code& error) {
  if (error == http::error::body_limit) return {413, "the request's body is too large"};
  if (error == http::error::header_limit) return {431, "the request's header is too large"};
  if (error == http::error::bad_version) return {505, "the server speaks HTTP/1.1"};
  return {400, fmt::format("the request is not valid HTTP: {}", error.message())};
}

}  // namespace

struct HttpParser::Parts {
  http::request_parser<http::string_body> parser;
  bool checked = false;
  bool continued = false;
};

HttpParser::HttpParser(std::size_t most_bytes) : most_bytes_(most_bytes) { take(); }
HttpParser::~HttpParser() = default;

bool HttpParser::begun(std::string_view bytes) const {
  return !bytes.empty() || parts_->parser.is_header_done();
}
bool HttpParser::done() const { return parts_->parser.is_done(); }
std::size_t HttpParser::body_bytes() const { return parts_->parser.get().body().size(); }

void HttpParser::put(std::string& bytes) {
  auto& parser = parts_->parser;
  while (!parser.is_header_done() && bytes.starts_with("\r\n")) bytes.erase(0, 2);  // RFC 9112, 2.2
  while (!bytes.empty() && !parser.is_done()) {
    boost::system::error_code error;
    bytes.erase(0, parser.put(boost::asio::buffer(bytes), error));
    if (parser.is_header_done() && !parts_->checked) {
      check_header(parser.get());
      parts_->checked = true;
    }
    if (error == http::error::need_more) return;
    if (error) throw refusal(error);
  }
}

bool HttpParser::wants_continue() {
  const auto& parser = parts_->parser;
  if (!parser.is_header_done() || parser.is_done() || parts_->continued) return false;
  parts_->continued = true;
  return lower_case(view(parser.get()[http::field::expect])) == "100-continue";
}

HttpRequest HttpParser::take() {
  HttpRequest request;
  if (parts_) {
    Fields& fields = parts_->parser.get();
    request.method = std::string(view(fields.method_string()));
    std::string_view target = view(fields.target());
    std::string_view host = only(fields, http::field::host);
    if (target.starts_with("http://")) {  // the form that proxies get
      host = target.substr(7, target.find('/', 7) - 7);
      target.remove_prefix(7 + host.size());
    }
    request.path = std::string(target.substr(0, target.find('?')));
    target.remove_prefix(std::min(request.path.size() + 1, target.size()));
    request.query = std::string(target);
    request.host = host_of(host);
    if (!host.empty() && request.host.empty()) {
      throw HttpRefusal{400, "the header Host holds no host"};
    }
    request.origin = std::string(only(fields, http::field::origin));
    const std::string_view type = only(fields, http::field::content_type);
    request.type = lower_case(type.substr(0, type.find_first_of("; \t")));
    request.keep = parts_->parser.keep_alive();
    request.old = fields.version() == 10;
    request.body = std::move(fields.body());
  }
  parts_ = std::make_unique<Parts>();
  parts_->parser.eager(true);
  parts_->parser.header_limit(kMostHeader);
  parts_->parser.body_limit(most_bytes_);
  return request;
}

std::string http_reason(int status) {
  return std::string(view(http::obsolete_reason(static_cast<http::status>(status))));
}

std::string host_of(std::string_view authority) {
  if (const std::size_t scheme = authority.find("://"); scheme != std::string_view::npos) {
    authority.remove_prefix(scheme + 3);
  }
  const bool bracket = authority.starts_with('[');
  const std::size_t end = bracket ? authority.find(']') : authority.find(':');
  if (bracket && end == std::string_view::npos) return "";
  const std::string_view port =
      end == std::string_view::npos ? "" : authority.substr(end + (bracket ? 1 : 0));
  const std::string_view host = bracket ? authority.substr(1, end - 1) : authority.substr(0, end);
  if (!port.empty() && (port[0] != ':' || !std::ranges::all_of(port.substr(1), is_digit)))
    return "";
  const auto is_part = [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_' ||
           (bracket && c == ':');
  };
  return std::ranges::all_of(host, is_part) ? lower_case(host) : "";
}

}  // namespace linnet::command
