// SPDX-License-Identifier: Apache-2.0
#include "analysis/linear_expression.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "base/ascii.h"
#include "base/check.h"
#include "describe/nearest.h"
#include "table/values.h"

namespace linnet {
namespace {

constexpr int kDeepest = 100;  // parentheses

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
std::string without_blanks(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}
bool in_name(char c) { return begins_name(c) || is_digit(c) || c == '.'; }

/// A recursive descent over sum = term {(+|-) term}, term = factor {(*|/) factor}, factor = number
/// [name] | name | (sum).
class Reader {
 public:
  Reader(const std::string& text, const std::vector<std::string>& names)
      : text_(text), names_(names) {}

  LinearExpression read() {
    LinearExpression all = sum();
    if (at_ < text_.size()) refuse();
    return all;
  }

 private:
  [[noreturn]] void refuse() {
    skip();
    require(
        !std::ranges::all_of(text_, is_blank),
        "a side of a condition, or a goal, is empty; expected a linear expression such as 3*x1 - "
        "x2");
    if (at_ >= text_.size()) fail("'{}' ends where a number or a name was expected", text_);
    fail("cannot read '{}' at '{}'; expected a linear expression such as 3*x1 - x2", text_,
         text_.substr(at_));
  }
  void skip() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  LinearExpression sum() {
    LinearExpression all;
    double sign = 1;
    if (take('-'))
      sign = -1;
    else
      take('+');
    while (true) {
      all.add(term(), sign);
      if (take('+'))
        sign = 1;
      else if (take('-'))
        sign = -1;
      else
        break;
    }
    skip();
    return all;
  }

  LinearExpression term() {
    LinearExpression all = factor();
    while (true) {
      const bool product = take('*');
      if (!product && !take('/')) return all;
      const LinearExpression other = factor();
      if (product) {
        require(all.terms.empty() || other.terms.empty(),
                "'{}' is not linear: it multiplies two names", text_);
        LinearExpression result;
        const bool left = all.terms.empty();
        result.add(left ? other : all, left ? all.constant : other.constant);
        all = std::move(result);
      } else {
        require(other.terms.empty() && other.constant != 0, "'{}' is not linear: it divides by {}",
                text_, other.terms.empty() ? "0" : "a name");
        LinearExpression result;
        result.add(all, 1 / other.constant);
        all = std::move(result);
      }
    }
  }

  LinearExpression factor() {
    if (take('(')) {
      require(++depth_ <= kDeepest, "'{}' has more than {} parentheses in each other", text_,
              kDeepest);
      LinearExpression inner = sum();
      if (!take(')')) refuse();
      --depth_;
      return inner;
    }
    if (take('-')) {
      LinearExpression negated;
      require(++depth_ <= kDeepest, "'{}' has too many signs", text_);
      negated.add(factor(), -1);
      --depth_;
      return negated;
    }
    skip();
    if (at_ >= text_.size()) refuse();
    const char c = text_[at_];
    if (is_digit(c) || c == '.') {
      LinearExpression number{.terms = {}, .constant = literal()};
      skip();
      if (at_ < text_.size() && (begins_name(text_[at_]) || text_[at_] == '"')) {
        LinearExpression product;  // "3 x1"
        product.add(variable(), number.constant);
        return product;
      }
      return number;
    }
    if (begins_name(c) || c == '"') return variable();
    refuse();
  }

  double literal() {
    std::size_t end = at_;
    const auto digits = [&] {
      while (end < text_.size() && (is_digit(text_[end]) || text_[end] == '.')) ++end;
    };
    digits();
    // An exponent, unless it is the beginning of a name.
    if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      std::size_t after = end + 1;
      if (after < text_.size() && (text_[after] == '-' || text_[after] == '+')) ++after;
      if (after < text_.size() && is_digit(text_[after])) {
        end = after;
        digits();
      }
    }
    const std::optional<double> value =
        number_of(std::string_view(text_).substr(at_, end - at_), '.');
    if (!value || !std::isfinite(*value)) refuse();
    at_ = end;
    return *value;
  }

  LinearExpression variable() {
    std::string name;
    if (text_[at_] == '"') {
      const std::size_t end = text_.find('"', at_ + 1);
      require(end != std::string::npos, "'{}' has a quote without an end", text_);
      name = text_.substr(at_ + 1, end - at_ - 1);
      at_ = end + 1;
    } else {
      const std::size_t begin = at_;
      while (at_ < text_.size() && in_name(text_[at_])) ++at_;
      name = text_.substr(begin, at_ - begin);
    }
    const auto found = std::ranges::find(names_, name);
    if (found == names_.end()) {
      fail("'{}' names '{}', which is neither a column of numbers nor an output{}", text_, name,
           did_you_mean(name, names_, "expected"));
    }
    return {.terms = {{static_cast<std::size_t>(found - names_.begin()), 1.0}}};
  }

  const std::string& text_;
  const std::vector<std::string>& names_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

double LinearExpression::value(std::span<const double> variables) const {
  double sum = constant;
  for (const auto& [variable, coefficient] : terms) sum += coefficient * variables[variable];
  return sum;
}

LinearExpression& LinearExpression::add(const LinearExpression& other, double factor) {
  for (const auto& [variable, coefficient] : other.terms) {
    terms[variable] += factor * coefficient;
  }
  std::erase_if(terms, [](const auto& term) { return term.second == 0; });
  constant += factor * other.constant;
  return *this;
}

ConstraintSides sides_of(const std::string& text) {
  constexpr std::array<std::string_view, 7> kRelations{"<=", ">=", "==", "!=", "<", ">", "="};
  ConstraintSides sides;
  std::size_t found = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (quoted) continue;
    for (const std::string_view relation : kRelations) {
      if (!std::string_view(text).substr(i).starts_with(relation)) continue;
      ++found;
      sides = {without_blanks(text.substr(0, i)), std::string(relation),
               without_blanks(text.substr(i + relation.size()))};
      i += relation.size() - 1;
      break;
    }
  }
  require(found == 1, "the constraint '{}' has {} of <=, >=, = and !=; expected one", text, found);
  if (sides.relation == "==") sides.relation = "=";
  if (sides.relation == "<" || sides.relation == ">") sides.relation += "=";
  return sides;
}

std::string plain_name(const std::string& text) {
  const std::string name = without_blanks(text);
  const bool quoted = name.size() >= 2 && name.front() == '"' && name.back() == '"';
  return quoted ? name.substr(1, name.size() - 2) : name;
}

LinearExpression linear_expression(const std::string& text, const std::vector<std::string>& names) {
  // A name that is not a word needs no quotes where it stands alone.
  const auto whole = std::ranges::find(names, plain_name(text));
  if (whole != names.end()) {
    return {.terms = {{static_cast<std::size_t>(whole - names.begin()), 1.0}}};
  }
  LinearExpression read = Reader(text, names).read();
  const bool finite =
      std::ranges::all_of(read.terms, [](const auto& term) { return std::isfinite(term.second); });
  require(finite && std::isfinite(read.constant), "'{}' computes with numbers that are too large",
          text);
  return read;
}

}  // namespace linnet
