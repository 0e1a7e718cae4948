// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string>

#include "nn/expression/support.h"

namespace linnet {
namespace {

/// An operand with a letter for each axis of a sample.
struct Term {
  Expression x;
  std::string letters;
};

bool contains(std::string_view letters, char letter) {
  return letters.find(letter) != std::string_view::npos;
}

/// Returns the letters of `from` for which `keep` holds, in their order.
template <class F>
std::string filtered(std::string_view from, F keep) {
  std::string kept;
  std::ranges::copy_if(from, std::back_inserter(kept), keep);
  return kept;
}

class Einsum {
 public:
  Einsum(std::string_view equation, const std::vector<Expression>& operands)
      : equation_(equation), operands_(operands) {
    std::string compact = filtered(equation, [](char c) { return c != ' '; });
    const std::size_t arrow = compact.find("->");
    if (arrow == std::string::npos) fail_on("expected operands and a result, \"...->...\"");
    result_ = compact.substr(arrow + 2);
    std::string terms = compact.substr(0, arrow) + ",";
    for (std::size_t end = terms.find(','); end != std::string::npos; end = terms.find(',')) {
      letters_.push_back(terms.substr(0, end));
      terms.erase(0, end + 1);
    }
    check_letters();
    take_batch();
    take_dims();
  }

  Expression compute() {
    if (terms_.size() == 1) return arranged(summed(terms_[0], result_), result_);
    return product();
  }

 private:
  [[noreturn]] void fail_on(std::string_view problem) const {
    std::string shapes;
    for (const Expression& x : operands_) {
      shapes += (shapes.empty() ? "" : " and ") + to_string(x.shape());
    }
    fail("[einsum '{}'] {}; got samples of {}", equation_, problem, shapes);
  }

  void check_letters() const {
    if (operands_.empty() || operands_.size() > 2 || letters_.size() != operands_.size()) {
      fail_on("expected one or two operands, as many as the equation has");
    }
    std::vector<std::string> all = letters_;
    all.push_back(result_);
    for (const std::string& letters : all) {
      for (const char c : letters) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter || std::ranges::count(letters, c) != 1) {
          fail_on(fmt::format("expected letters, each once in an operand; got \"{}\"", letters));
        }
      }
    }
  }

  /// Takes the batch's letter off all operands that have a batch, and off the result.
  void take_batch() {
    char batch = 0;
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      const std::size_t axes = operands_[i].shape().rank() + (operands_[i].batched() ? 1 : 0);
      if (letters_[i].size() != axes) {
        fail_on(fmt::format("expected a letter for each axis, the batch's first; got \"{}\"",
                            letters_[i]));
      }
      if (!operands_[i].batched()) continue;
      if (batch == 0) batch = letters_[i][0];
      if (letters_[i][0] != batch) fail_on("expected one letter for the batch of both operands");
      letters_[i].erase(0, 1);
    }
    if (batch == 0) return;
    for (const std::string& letters : letters_) {
      if (contains(letters, batch)) fail_on("expected the batch as the first axis alone");
    }
    if (result_.empty() || result_[0] != batch) fail_on("expected the batch first in the result");
    result_.erase(0, 1);
  }

  void take_dims() {
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      for (std::size_t axis = 0; axis < letters_[i].size(); ++axis) {
        const char letter = letters_[i][axis];
        const std::int64_t dim = operands_[i].shape().dims()[axis];
        const auto [known, is_new] = dims_.try_emplace(letter, dim);
        if (known->second != dim) {
          fail_on(fmt::format("expected one dimension for '{}'; got {} and {}", letter,
                              known->second, dim));
        }
      }
      terms_.push_back({operands_[i], letters_[i]});
    }
    for (const char letter : result_) {
      if (!dims_.contains(letter)) {
        fail_on(fmt::format("expected each axis of the result in an operand; got '{}'", letter));
      }
    }
  }

  /// Returns the term without the axes that are not in `kept`.
  static Term summed(const Term& term, std::string_view kept) {
    Axes axes;
    for (std::size_t i = 0; i < term.letters.size(); ++i) {
      if (!contains(kept, term.letters[i])) axes.push_back(static_cast<std::int64_t>(i));
    }
    if (axes.empty()) return term;
    return {sum(term.x, axes), filtered(term.letters, [&](char c) { return contains(kept, c); })};
  }

  /// Returns the term's axes in the order of `letters`.
  static Expression arranged(const Term& term, std::string_view letters) {
    if (term.letters == letters) return term.x;
    Axes axes;
    for (const char letter : letters) {
      axes.push_back(static_cast<std::int64_t>(term.letters.find(letter)));
    }
    return transpose(term.x, axes);
  }

  Shape shape_of(std::initializer_list<std::string_view> groups) const {
    std::vector<std::int64_t> dims;
    for (const std::string_view letters : groups) {
      std::int64_t dim = 1;
      for (const char letter : letters) dim *= dims_.at(letter);
      dims.push_back(dim);
    }
    return Shape(dims);
  }

  /// The term as matrices (shared, own, contracted), or with the last two swapped where its axes
  /// lie like that already. No shared axes: without that axis.
  struct Matrices {
    Expression x;
    bool swapped;
  };
  Matrices matrices(const Term& term, const std::string& shared, const std::string& own,
                    const std::string& contracted) const {
    const bool swapped = term.letters == shared + contracted + own && !own.empty();
    const std::string& rows = swapped ? contracted : own;
    const std::string& columns = swapped ? own : contracted;
    const Expression x = arranged(term, shared + rows + columns);
    const Shape shape =
        shared.empty() ? shape_of({rows, columns}) : shape_of({shared, rows, columns});
    return {reshaped(x, shape), swapped};
  }

  /// Returns the term with the axes of the result, of dimension 1 where it has none.
  Expression beside(const Term& term) const {
    std::vector<std::int64_t> dims;
    for (const char c : result_) dims.push_back(contains(term.letters, c) ? dims_.at(c) : 1);
    const std::string order = filtered(result_, [&](char c) { return contains(term.letters, c); });
    return reshaped(arranged(term, order), Shape(dims));
  }

  Expression product() {
    const Term& a = terms_[0];
    const Term& b = terms_[1];
    const auto in = [](const std::string& letters) {
      return [&letters](char c) { return contains(letters, c); };
    };
    const Term left = summed(a, b.letters + result_);
    const Term right = summed(b, a.letters + result_);
    const std::string both = filtered(left.letters, in(right.letters));
    const std::string shared = filtered(both, in(result_));
    const std::string contracted = filtered(both, [&](char c) { return !contains(result_, c); });
    if (contracted.empty()) return beside(left) * beside(right);
    const auto own = [&](const Term& term) {
      return filtered(term.letters, [&](char c) { return !contains(both, c); });
    };
    const std::string left_own = own(left);
    const std::string right_own = own(right);
    const Matrices x = matrices(left, shared, left_own, contracted);
    const Matrices y = matrices(right, shared, right_own, contracted);
    const Expression z = matmul(x.x, y.x, {.transpose_a = x.swapped, .transpose_b = !y.swapped});
    const std::string letters = shared + left_own + right_own;
    std::vector<std::int64_t> dims;
    for (const char letter : letters) dims.push_back(dims_.at(letter));
    return arranged({reshaped(z, Shape(dims)), letters}, result_);
  }

  std::string_view equation_;
  const std::vector<Expression>& operands_;
  std::vector<std::string> letters_;  ///< of each operand; without the batch after take_batch()
  std::string result_;
  std::vector<Term> terms_;
  std::map<char, std::int64_t> dims_;
};

}  // namespace

Expression einsum(std::string_view equation, const std::vector<Expression>& operands) {
  return Einsum(equation, operands).compute();
}

}  // namespace linnet
