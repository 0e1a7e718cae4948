// SPDX-License-Identifier: Apache-2.0
// Attention and RotaryEmbedding, which exporters write as one node from opset 23 on.
#include <linnet/functions.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/check.h"
#include "core/dims.h"
#include "onnx/node_import.h"

namespace linnet::onnx {
namespace {

constexpr double kMaskedScore = -3.4028234663852886e38;  // the lowest float

/// Returns (batch, heads, steps, features) of a value with these axes, or with three of which the
/// last holds the heads.
Trace with_heads(const Trace& x, std::int64_t heads, std::string_view attribute) {
  const Dims dims = dims_of(x);
  if (dims.size() == 4) return x;
  require<DataError>(dims.size() == 3 && heads > 0 && dims[2] % heads == 0,
                     "expected 4 axes, or 3 and {} that divides the last; got {} and {}", attribute,
                     text_of(dims), heads);
  Trace y = reshaped(x, {dims[0], dims[1], heads, dims[2] / heads}, kTemplateBatch);
  std::swap(y.axes[1], y.axes[2]);
  return y;
}

/// Returns two values one after the other along an axis.
Trace joined(const Trace& a, const Trace& b, int axis) {
  const int batch = batch_axis(a);
  require<DataError>(batch == batch_axis(b) && batch != axis && (batch < 0 || is_batch(a, batch)) &&
                         a.axes.size() == b.axes.size(),
                     "{} and {} cannot be joined", text_of(dims_of(a)), text_of(dims_of(b)));
  std::vector<int> order;
  std::int64_t place = 0;
  for (int i = 0; i < static_cast<int>(a.axes.size()); ++i) {
    if (i == axis) place = std::ssize(order);
    if (i != batch) order.push_back(i);
  }
  return from_rows(a, concat({arranged(a, order), arranged(b, order)}, place), order);
}

/// Returns f of the last axis, which stays as 1.
Trace of_last(Trace x, const std::function<Expression(const Expression&, std::int64_t)>& f) {
  const int last = static_cast<int>(x.axes.size()) - 1;
  x = merged(x, last);
  std::vector<bool> reduced(x.axes.size(), false);
  reduced.back() = true;
  return without(x, f(x.e, place_of(x, last)), reduced, true, x.type);
}

/// What a query may read: keys by place, by the numbers of keys of a sample, and by masks.
struct Mask {
  std::vector<FileValue> allowed;  ///< 1 or 0, each repeated to (batch, heads, queries, keys)
  std::optional<FileValue> bias;   ///< what is added to scores
  bool may_hide_all = false;       ///< whether a query may be left without keys
};

/// Places that a causal mask or a window allows: by the number of keys before the first query.
std::vector<double> allowed_places(std::int64_t queries, std::int64_t keys, bool causal,
                                   std::int64_t left, std::int64_t right, std::int64_t offset,
                                   bool& hides_all) {
  std::vector<double> allowed;
  for (std::int64_t i = 0; i < queries; ++i) {
    bool any = false;
    for (std::int64_t k = 0; k < keys; ++k) {
      const std::int64_t back = i + offset - k;
      const bool is =
          (!causal || back >= 0) && (left < 0 || back <= left) && (right < 0 || -back <= right);
      allowed.push_back(is ? 1 : 0);
      any = any || is;
    }
    hides_all = hides_all || !any;
  }
  return allowed;
}

/// Returns what two masks allow.
FileValue both_of(NodeImport& n, const FileValue& a, const FileValue& b) {
  const Aligned both = n.align({a, b});
  return Trace{both.operands[0] * both.operands[1], both.axes, Type::boolean, 0};
}

/// Returns whether anything along the last axis, which stays as 1, is 1.
FileValue any_of_last(NodeImport& n, const FileValue& mask) {
  if (mask.trace) {
    return of_last(*mask.trace,
                   [](const Expression& e, std::int64_t axis) { return max(e, {axis}); });
  }
  Dims dims = mask.constant->dims();
  const std::vector<double> values = mask.constant->values();
  const auto keys = static_cast<std::size_t>(std::exchange(dims.back(), 1));
  std::vector<double> any(values.size() / keys, 0);
  for (std::size_t i = 0; i < values.size(); ++i)
    any[i / keys] = std::max(any[i / keys], values[i]);
  return made_constant(n, "sees", std::move(dims), std::move(any));
}

Mask mask_of(NodeImport& n, std::int64_t queries, std::int64_t keys, std::int64_t before) {
  Mask mask;
  const bool causal = n.flag("is_causal", false);
  const std::int64_t left = n.integer("left_window_size", -1);
  const std::int64_t right = n.integer("right_window_size", -1);
  const bool windowed = left >= 0 || right >= 0;
  require<DataError>(queries <= kMostComputed / keys, "{} queries of {} keys are too many", queries,
                     keys);
  if (n.has(6)) {  // the number of keys of each sample
    require<DataError>(!n.has(4), "nonpad_kv_seqlen with earlier keys is not supported");
    Trace count = *n.with_numbers(n.trace(6)).trace;
    require<DataError>(count.axes.size() == 1, "expected a number of keys for each sample; got {}",
                       text_of(dims_of(count)));
    count.axes.insert(count.axes.end(), 3, Axis{});
    // The numbers of keys with which a query sees one.
    const bool by_query = causal || windowed;
    const Dims places{by_query ? queries : 1, keys};
    std::vector<double> least;
    std::vector<double> most;
    for (std::int64_t i = 0; i < places[0]; ++i) {
      for (std::int64_t k = 0; k < keys; ++k) {
        const std::int64_t own = k - i + queries;  // key k is the query's own
        std::int64_t low = k + 1;
        if (causal) low = std::max(low, own);
        if (right >= 0) low = std::max(low, own - right);
        least.push_back(static_cast<double>(low));
        most.push_back(static_cast<double>(own + left));
      }
    }
    const Aligned low = n.align({count, made_constant(n, "least_keys", places, std::move(least))});
    mask.allowed.emplace_back(
        Trace{low.operands[0] >= low.operands[1], low.axes, Type::boolean, 0});
    if (left >= 0) {
      const Aligned high = n.align({count, made_constant(n, "most_keys", places, std::move(most))});
      mask.allowed.emplace_back(
          Trace{high.operands[0] <= high.operands[1], high.axes, Type::boolean, 0});
    }
    mask.may_hide_all = true;
  } else if (causal || windowed) {
    std::vector<double> allowed =
        allowed_places(queries, keys, causal, left, right, before, mask.may_hide_all);
    const Dims dims{queries, keys};
    mask.allowed.emplace_back(made_constant(n, "allowed", dims, std::move(allowed)));
  }
  if (!n.has(3)) return mask;
  FileValue given = n.input(3);
  const Dims dims = given.dims();
  require<DataError>(!dims.empty() && dims.back() > 0 && dims.back() <= keys,
                     "a mask of {} does not fit {} keys", text_of(dims), keys);
  const bool boolean = given.type() == Type::boolean;
  if (dims.back() < keys) {
    require<DataError>(given.trace.has_value(), "a constant mask of {} is shorter than {} keys",
                       text_of(dims), keys);
    Trace t = merged(n.trace(3), static_cast<int>(dims.size()) - 1);
    t.e = pad(t.e, place_of(t, static_cast<int>(dims.size()) - 1), 0, keys - dims.back(),
              boolean ? 0 : kMaskedScore);
    given = t;
  }
  mask.may_hide_all = true;
  if (boolean)
    mask.allowed.push_back(std::move(given));
  else
    mask.bias = finite(n, given, true);
  return mask;
}

/// softmax(scale q kᵀ + mask) v
void attend(NodeImport& n) {
  n.ignore("softmax_precision");  // f32, as all else
  const std::int64_t q_heads = n.integer("q_num_heads", 0);
  const std::int64_t kv_heads = n.integer("kv_num_heads", 0);
  const bool flat = n.floats(0).axes.size() == 3;
  Trace q = with_heads(n.floats(0), q_heads, "q_num_heads");
  Trace k = with_heads(n.floats(1), kv_heads, "kv_num_heads");
  Trace v = with_heads(n.floats(2), kv_heads, "kv_num_heads");
  std::int64_t before = 0;
  require<DataError>(n.has(4) == n.has(5), "expected both past_key and past_value");
  if (n.has(4)) {
    const Dims past = dims_of(n.floats(4));
    require<DataError>(past.size() == 4, "expected past_key with 4 axes; got {}", text_of(past));
    before = past[2];
    k = joined(n.floats(4), k, 2);
    v = joined(n.floats(5), v, 2);
  }
  if (n.wants(1)) n.give(k, 1);
  if (n.wants(2)) n.give(v, 2);
  const Dims dims = dims_of(q);
  const Dims key_dims = dims_of(k);
  const Dims value_dims = dims_of(v);
  const std::int64_t queries = dims[2];
  const std::int64_t keys = key_dims[2];
  require<DataError>(key_dims[1] > 0 && dims[1] % key_dims[1] == 0 && dims[3] == key_dims[3] &&
                         value_dims[1] == key_dims[1] && value_dims[2] == keys && keys > 0,
                     "queries of {}, keys of {} and values of {} do not fit", text_of(dims),
                     text_of(key_dims), text_of(value_dims));
  // Several heads of queries read one of keys and values.
  const Dims grouped{dims[0], key_dims[1], dims[1] / key_dims[1], queries};
  const auto with = [](Dims all, std::int64_t last) {
    all.push_back(last);
    return all;
  };
  const double scale = n.number("scale", 1 / std::sqrt(static_cast<double>(dims[3])));
  const double cap = n.number("softcap", 0);
  require<DataError>(std::isfinite(scale) && std::isfinite(cap),
                     "expected a finite scale and softcap; got {} and {}", scale, cap);
  const Mask mask = mask_of(n, queries, keys, before);
  q = reshaped(q, with(grouped, dims[3]), kTemplateBatch);
  k.axes.insert(k.axes.begin() + 2, Axis{});
  v.axes.insert(v.axes.begin() + 2, Axis{});
  std::swap(k.axes[3], k.axes[4]);
  q.e = q.e * scale;
  Trace scores =
      reshaped(matrix_product(n, q, k), {dims[0], dims[1], queries, keys}, kTemplateBatch);
  if (cap > 0) scores.e = tanh(scores.e * (1 / cap)) * cap;
  const std::int64_t shown = n.integer("qk_matmul_output_mode", 0);
  require<DataError>(shown >= 0 && shown <= 3, "qk_matmul_output_mode {} is not supported", shown);
  if (n.wants(3) && shown < 2) n.give(scores, 3);
  std::optional<FileValue> visible;  // where a query sees a key
  if (mask.bias) {
    const Aligned both = n.align({scores, *mask.bias});
    scores = {both.operands[0] + both.operands[1], both.axes, scores.type, 0};
    if (mask.bias->trace) {
      Trace seen = *mask.bias->trace;
      seen.e = n.scoped(seen.e) > -1e38;
      visible = std::move(seen);
    }
  }
  if (n.wants(3) && shown == 2) {
    require<DataError>(mask.allowed.empty(),
                       "qk_matmul_output_mode 2, which holds infinities, is not supported");
    n.give(scores, 3);
  }
  std::optional<FileValue> allowed;
  for (const FileValue& other : mask.allowed) {
    allowed = allowed ? both_of(n, *allowed, other) : other;
  }
  if (allowed) {
    const Aligned both = n.align({scores, *allowed});
    scores = {where(both.operands[1], both.operands[0], kMaskedScore), both.axes, scores.type, 0};
    if (visible) {
      visible = both_of(n, *visible, *allowed);
    } else if (mask.may_hide_all) {
      visible = allowed;
    }
  }
  const int last = static_cast<int>(scores.axes.size()) - 1;
  scores = merged(scores, last);
  scores.e = softmax(scores.e, place_of(scores, last));
  if (visible) {
    const Aligned both = n.align({scores, any_of_last(n, *visible)});
    scores = {where(both.operands[1], both.operands[0], 0), both.axes, scores.type, 0};
  }
  if (n.wants(3) && shown == 3) n.give(scores, 3);
  Trace y = matrix_product(n, reshaped(scores, with(grouped, keys), kTemplateBatch), v);
  y = reshaped(y, {dims[0], dims[1], queries, value_dims[3]}, kTemplateBatch);
  if (flat) {
    std::swap(y.axes[1], y.axes[2]);
    y = reshaped(y, {dims[0], queries, dims[1] * value_dims[3]}, kTemplateBatch);
  }
  n.give(std::move(y));
}

/// Returns cosines or sines as (batch, steps, 1, features): by place, or by each step's id.
FileValue angles(NodeImport& n, std::size_t input, std::int64_t features) {
  FileValue given = n.input(input);
  const Dims dims = given.dims();
  require<DataError>(!dims.empty() && dims.back() == features && dims.size() == (n.has(3) ? 2 : 3),
                     "expected angles of {} features; got {}", features, text_of(dims));
  if (n.has(3)) {
    Trace ids = n.trace(3);
    require<DataError>(ids.axes.size() == 2, "expected an id for each step; got {}",
                       text_of(dims_of(ids)));
    if (ids.e.dtype() != DType::i32) ids = ids_of_numbers(ids, dims[0]);
    Trace rows{ids.e, ids.axes, Type::f32, 0};
    if (given.constant) {
      rows.e = gather(n.weight(given.constant, as_is(dims)), ids.e, 0);
    } else {
      require<DataError>(batch_axis(*given.trace) < 0, "expected a table that all samples share");
      rows.e = gather(arranged(n.trace(input), {0, 1}), ids.e, 0);
    }
    rows.axes.push_back({static_cast<int>(rows.e.shape().rank())});
    given = rows;
  }
  if (given.trace) {
    given.trace->axes.insert(given.trace->axes.begin() + 2, Axis{});
  } else {
    given.constant = reshaped(*given.constant, {dims[0], dims[1], 1, dims[2]});
  }
  return given;
}

/// Pairs of features turned by an angle for each step (Su et al., 2021).
void rotate(NodeImport& n) {
  const Trace x = n.floats(0);
  const std::int64_t heads = n.integer("num_heads", 0);
  const bool interleaved = n.flag("interleaved", false);
  const bool flat = x.axes.size() == 3;
  Trace whole = with_heads(x, heads, "num_heads");
  std::swap(whole.axes[1], whole.axes[2]);  // (batch, steps, heads, features)
  const Dims dims = dims_of(whole);
  std::int64_t rotated = n.integer("rotary_embedding_dim", 0);
  if (rotated == 0) rotated = dims[3];
  require<DataError>(rotated > 0 && rotated % 2 == 0 && rotated <= dims[3],
                     "cannot turn {} of {} features", rotated, dims[3]);
  const std::int64_t half = rotated / 2;
  const Trace first = sliced(whole, 3, 0, interleaved ? 2 : 1, half);
  const Trace second = sliced(whole, 3, interleaved ? 1 : half, interleaved ? 2 : 1, half);
  const Aligned all = n.align({first, second, angles(n, 1, half), angles(n, 2, half)});
  const std::vector<Expression>& e = all.operands;
  Trace real{e[2] * e[0] - e[3] * e[1], all.axes, x.type, 0};
  Trace imaginary{e[3] * e[0] + e[2] * e[1], all.axes, x.type, 0};
  Trace y = real;
  if (interleaved) {
    real.axes.emplace_back();
    imaginary.axes.emplace_back();
    y = reshaped(joined(real, imaginary, 4), {dims[0], dims[1], dims[2], rotated}, kTemplateBatch);
  } else {
    y = joined(real, imaginary, 3);
  }
  if (rotated < dims[3]) y = joined(y, sliced(whole, 3, rotated, 1, dims[3] - rotated), 3);
  if (flat) {
    n.give(reshaped(y, dims_of(x), kTemplateBatch));
    return;
  }
  std::swap(y.axes[1], y.axes[2]);
  n.give(std::move(y));
}

}  // namespace

void add_attention(Operators& all) {
  all["Attention"] = {attend, "no infinities in qk_matmul_output"};
  all["RotaryEmbedding"] = {rotate, {}};
}

}  // namespace linnet::onnx
