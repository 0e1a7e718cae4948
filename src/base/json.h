// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/check.h"

namespace linnet {

/// Looks at JSON without keeping it: throws Error for a name twice in an object and for too deep
/// nesting, which the library would let pass; a copy of JSON that is nested 100,000 deep ends the
/// stack. (Its callbacks while parsing take time that grows with the square of an object's size.)
class JsonChecker final : public nlohmann::json_sax<nlohmann::json> {
 public:
  JsonChecker(std::size_t most_depth, std::string_view what)
      : most_depth_(most_depth), what_(what) {}

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    require<DataError>(keys_.back().insert(name).second, "{} names '{}' twice", what_, name);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;  // parsing says what it is
  }

 private:
  bool open() {
    require<DataError>(keys_.size() < most_depth_, "{} is nested too deeply", what_);
    keys_.emplace_back();
    return true;
  }
  bool close() {
    keys_.pop_back();
    return true;
  }

  std::size_t most_depth_;
  std::string_view what_;
  std::vector<std::unordered_set<std::string>> keys_;  // of what is open
};

/// Parses JSON that anybody may have written; nothing else parses JSON (tools/check_gates.py).
/// Throws Error that begins with `what`: "its header is not valid JSON (byte 12)", "its header
/// names 'a' twice", "its header is nested too deeply".
template <class Json>
Json parse_json(std::string_view text, std::size_t most_depth, std::string_view what) {
  JsonChecker checker(most_depth, what);
  try {
    nlohmann::json::sax_parse(text, &checker);
    return Json::parse(text);
  } catch (const typename Json::parse_error& error) {
    fail<DataError>("{} is not valid JSON (byte {})", what, error.byte);
  } catch (const typename Json::exception&) {
    fail<DataError>("{} is not valid JSON", what);
  }
}

/// Does the same for a file that may be damaged; null for what parse_json() refuses.
template <class Json>
Json json_or_null(std::string_view text, std::size_t most_depth) {
  try {
    return parse_json<Json>(text, most_depth, "it");
  } catch (const DataError&) {
    return nullptr;
  }
}

}  // namespace linnet
