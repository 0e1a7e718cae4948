// SPDX-License-Identifier: Apache-2.0
#include "nn/expression/attention.h"

#include <cmath>

#include "nn/expression/support.h"

namespace linnet {
namespace {

/// (T, features) as (heads, T, features / heads)
Expression by_head(const Expression& x, std::int64_t heads) {
  const std::int64_t steps = x.shape()[0];
  return transpose(reshape(x, {steps, heads, x.shape()[1] / heads}), {1, 0, 2});
}

}  // namespace

Expression attend(const Expression& query, const Expression& key, const Expression& value,
                  std::int64_t heads, const std::function<Expression(const Expression&)>& weigh) {
  const double scale = 1 / std::sqrt(static_cast<double>(query.shape()[1] / heads));
  const Expression scores =
      matmul(by_head(query, heads) * scale, by_head(key, heads), {.transpose_b = true});
  const Expression found = matmul(weigh(scores), by_head(value, heads));  // (heads, T, size)
  return reshape(transpose(found, {1, 0, 2}), {query.shape()[0], value.shape()[1]});
}

Expression scaled_dot_product_attention(const Expression& query, const Expression& key,
                                        const Expression& value, std::int64_t heads) {
  const Shape& q = query.shape();
  const Shape& k = key.shape();
  const Shape& v = value.shape();
  const bool fit = q.rank() == 2 && k.rank() == 2 && v.rank() == 2 && q[1] == k[1] && k[0] == v[0];
  require(
      fit && heads > 0 && q[1] % heads == 0 && v[1] % heads == 0,
      "[{}] expected a query (T, features), a key (S, features) and a value (S, width), and heads "
      "that divide features and width; got {}, {}, {} and {}",
      called("scaled_dot_product_attention", query), to_string(q), to_string(k), to_string(v),
      heads);
  return attend(query, key, value, heads, [](const Expression& scores) { return softmax(scores); });
}

}  // namespace linnet
