// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <string>

#include "analysis/linear_expression.h"
#include "fuzz/fuzz_input.h"

// A constraint of `linnet optimize`: its sides, and their linear expressions.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace linnet;
  const std::string text(fuzz::text_of(data, size));
  const std::vector<std::string> names{"x1", "x2", "body mass", "y"};
  ConstraintSides sides;
  if (!fuzz::accepts([&] { sides = sides_of(text); })) return 0;
  fuzz::expect(sides.relation == "<=" || sides.relation == ">=" || sides.relation == "=" ||
                   sides.relation == "!=",
               "there are four relations");
  for (const std::string& side : {sides.left, sides.right}) {
    LinearExpression read;
    if (!fuzz::accepts([&] { read = linear_expression(side, names); })) continue;
    bool finite = std::isfinite(read.constant);
    for (const auto& [variable, coefficient] : read.terms) {
      fuzz::expect(variable < names.size() && coefficient != 0, "terms are of known names");
      finite = finite && std::isfinite(coefficient);
    }
    fuzz::expect(finite, "coefficients are finite");
    const std::array<double, 4> at{1, 2, 3, 4};
    static_cast<void>(read.value(at));
    fuzz::expect(!plain_name(side).empty() || side.empty() || side == "\"\"",
                 "a name is what stands there");
  }
  return 0;
}
