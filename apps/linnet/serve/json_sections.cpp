// SPDX-License-Identifier: Apache-2.0
#include "serve/json_sections.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "base/check.h"

namespace linnet::command {
namespace {

constexpr int kDeepest = 64;
constexpr int kTooLarge = 406;  // the library's number for a number beyond a double

using Sax = nlohmann::json_sax<nlohmann::json>;

class Sections final : public Sax {
 public:
  explicit Sections(const std::map<std::string, JsonSection*>& sections) : sections_(sections) {}

  const std::string& found() const { return found_; }

  bool null() override { return add({.kind = JsonKind::null}); }
  bool boolean(bool value) override {
    return add({.kind = JsonKind::boolean, .text = value ? "true" : "false"});
  }
  bool number_integer(number_integer_t value) override {
    return number(static_cast<double>(value), fmt::format("{}", value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return number(static_cast<double>(value), fmt::format("{}", value));
  }
  bool number_float(number_float_t value, const string_t& text) override {
    return number(value, text);
  }
  bool string(string_t& text) override { return add({.kind = JsonKind::string, .text = text}); }
  bool binary(binary_t&) override { return false; }  // not in JSON
  bool start_array(std::size_t) override { return open(JsonKind::array); }
  bool end_array() override { return close(); }
  bool start_object(std::size_t) override { return open(JsonKind::object); }
  bool end_object() override { return close(); }

  bool key(string_t& name) override {
    if (depth_ > 1) {
      if (section_ != nullptr) section_->key(name, depth_ - 2);
      return true;
    }
    const auto at = sections_.find(name);
    section_ = at == sections_.end() ? nullptr : at->second;
    if (section_ == nullptr) return true;
    require(found_.empty(), "expected one of 'inputs', 'texts' and 'rows'; got '{}' and '{}'",
            found_, name);
    found_ = name;
    return true;
  }

  bool parse_error(std::size_t byte, const std::string&,
                   const nlohmann::detail::exception& error) override {
    require(error.id != kTooLarge, "the body holds a number that is too large (byte {})", byte);
    fail("the body is not valid JSON (byte {})", byte);
  }

 private:
  bool number(double value, std::string_view text) {
    return add({.kind = JsonKind::number, .number = value, .text = text});
  }
  bool open(JsonKind kind) {
    require(depth_ < kDeepest, "the body is nested more than {} deep", kDeepest);
    add({.kind = kind});
    ++depth_;
    return true;
  }
  bool close() {
    --depth_;
    if (depth_ > 0 && section_ != nullptr) section_->close(depth_ - 1);
    return true;
  }
  bool add(JsonEvent event) {
    require(depth_ > 0 || event.kind == JsonKind::object, "expected a JSON object; got {}",
            to_string(event.kind));
    if (depth_ == 0 || section_ == nullptr) return true;
    event.depth = depth_ - 1;
    section_->value(event);
    return true;
  }

  const std::map<std::string, JsonSection*>& sections_;
  JsonSection* section_ = nullptr;  // that is being read; null: passed over
  std::string found_;
  int depth_ = 0;
};

}  // namespace

std::string_view to_string(JsonKind kind) {
  constexpr std::array<std::string_view, 6> kNames{"null",   "boolean", "number",
                                                   "string", "array",   "object"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string read_sections(const std::string& text,
                          const std::map<std::string, JsonSection*>& sections) {
  Sections reader(sections);
  nlohmann::json::sax_parse(text, static_cast<Sax*>(&reader));
  return reader.found();
}

}  // namespace linnet::command
