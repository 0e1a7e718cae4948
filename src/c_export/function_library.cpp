// SPDX-License-Identifier: Apache-2.0
#include "c_export/function_library.h"

#include <algorithm>
#include <map>
#include <vector>

#include "c_export/language.h"

namespace linnet {
namespace {

// Written as SourcePrinter reads it. Arrays are row-major, and each is handed on with the place of
// its first element. An addition of numbers 0.0 keeps Java from taking integers. date_parts() gives
// six numbers, and how many digits each has.
constexpr std::string_view kLibrary = R"(
def none dense(list x, int a, list w, int c, list bias, int d, out y, int e, int rows, int features, int units)
  for r to rows
    for o to units
      y[e + r * units + o] = given(bias) ? bias[d + o] : 0.0
    end
    for k to features
      num v = x[a + r * features + k]
      for o to units
        y[e + r * units + o] = y[e + r * units + o] + v * w[c + k * units + o]
      end
    end
  end
end
def none scale_channels(list x, int a, list scale, int b, list shift, int c, out y, int d, int rows, int channels)
  for r to rows
    for o to channels
      y[d + r * channels + o] = x[a + r * channels + o] * scale[b + o] + shift[c + o]
    end
  end
end
def none add_bias(list x, int a, list bias, int b, out y, int c, int rows, int channels)
  for r to rows
    for o to channels
      y[c + r * channels + o] = x[a + r * channels + o] + bias[b + o]
    end
  end
end
def none group_norm(list x, int a, list weight, int b, list bias, int c, out y, int d, int rows, int pixels, int channels, int groups, num epsilon)
  int width = div(channels, groups)
  for r to rows
    for g to groups
      int at = r * pixels * channels + g * width
      num mean = 0.0
      num variance = 0.0
      for p to pixels
        for o to width
          mean = mean + x[a + at + p * channels + o] / (pixels * width)
        end
      end
      for p to pixels
        for o to width
          num apart = x[a + at + p * channels + o] - mean
          variance = variance + apart * apart / (pixels * width)
        end
      end
      num factor = quotient(1.0, sqrt(variance + epsilon))
      for p to pixels
        for o to width
          y[d + at + p * channels + o] = (x[a + at + p * channels + o] - mean) * factor * weight[b + g * width + o] + bias[c + g * width + o]
        end
      end
    end
  end
end
def none group_norm_tangent(list x, int a, list dx, int b, list weight, int c, out dy, int d, int rows, int pixels, int channels, int groups, num epsilon)
  int width = div(channels, groups)
  num all = pixels * width + 0.0
  for r to rows
    for g to groups
      int at = r * pixels * channels + g * width
      num mean = 0.0
      num slope = 0.0
      num variance = 0.0
      num product = 0.0
      for p to pixels
        for o to width
          mean = mean + x[a + at + p * channels + o] / all
          slope = slope + dx[b + at + p * channels + o] / all
        end
      end
      for p to pixels
        for o to width
          num apart = x[a + at + p * channels + o] - mean
          variance = variance + apart * apart / all
          product = product + apart * dx[b + at + p * channels + o] / all
        end
      end
      num factor = quotient(1.0, sqrt(variance + epsilon))
      for p to pixels
        for o to width
          int k = at + p * channels + o
          dy[d + k] = (dx[b + k] - slope - (x[a + k] - mean) * product * factor * factor) * factor * weight[c + g * width + o]
        end
      end
    end
  end
end
def num log_sum(list x, int a, int width, num most)
  num sum = 0.0
  for o to width
    sum = sum + exp(x[a + o] - most)
  end
  return log(sum)
end
def num largest(list x, int a, int width)
  num most = x[a]
  for o to width
    most = x[a + o] > most ? x[a + o] : most
  end
  return most
end
def none log_softmax(list x, int a, out y, int b, int rows, int width)
  for r to rows
    num most = largest(x, a + r * width, width)
    num total = most + log_sum(x, a + r * width, width, most)
    for o to width
      y[b + r * width + o] = x[a + r * width + o] - total
    end
  end
end
def none softmax(list x, int a, out y, int b, int rows, int width)
  log_softmax(x, a, y, b, rows, width)
  for o to rows * width
    y[b + o] = exp(y[b + o])
  end
end
def none sigmoid(out y, int width)
  for o to width
    y[o] = 1.0 / (1.0 + exp(-y[o]))
  end
end
def none sigmoid_tangent(list y, out dy, int width)
  for o to width
    dy[o] = y[o] * (1.0 - y[o]) * dy[o]
  end
end
def none softmax_tangent(list y, int a, list dx, int b, out dy, int c, int rows, int width)
  for r to rows
    num mean = 0.0
    for o to width
      mean = mean + y[a + r * width + o] * dx[b + r * width + o]
    end
    for o to width
      dy[c + r * width + o] = y[a + r * width + o] * (dx[b + r * width + o] - mean)
    end
  end
end
def none log_softmax_tangent(list y, int a, list dx, int b, out dy, int c, int rows, int width)
  for r to rows
    num mean = 0.0
    for o to width
      mean = mean + exp(y[a + r * width + o]) * dx[b + r * width + o]
    end
    for o to width
      dy[c + r * width + o] = dx[b + r * width + o] - mean
    end
  end
end
def none reduce(list x, int a, out y, int b, int outer, int many, int inner, text kind)
  for r to outer
    for o to inner
      num sum = x[a + r * many * inner + o]
      for k to many - 1
        num v = x[a + (r * many + k + 1) * inner + o]
        if same(kind, "s") || same(kind, "m")
          sum = sum + v
        else
          sum = (same(kind, ">") ? v > sum : v < sum) ? v : sum
        end
      end
      y[b + r * inner + o] = same(kind, "m") ? sum / many : sum
    end
  end
end
def none copy_part(list x, int a, out y, int b, int rows, int width, int at, int all)
  for r to rows
    for o to width
      y[b + r * all + at + o] = x[a + r * width + o]
    end
  end
end
def none take_part(list x, int a, out y, int b, int rows, int width, int at, int all)
  for r to rows
    for o to width
      y[b + r * width + o] = x[a + r * all + at + o]
    end
  end
end
def none gather(list w, int a, list ids, int b, out y, int c, int many, int rows, int width)
  for k to many
    int id = whole(ids[b + k])
    if id < 0 || id >= rows
      raise "an id is outside of the embedding"
    end
    for o to width
      y[c + k * width + o] = w[a + id * width + o]
    end
  end
end
def num erf(num x)
  num t = 1.0 / (1.0 + 0.3275911 * fabs(x))
  num tail = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
  num y = 1.0 - tail * exp(-x * x)
  return x < 0.0 ? -y : y
end
def num nearbyint(num x)
  num y = floor(x + 0.5)
  return y - x == 0.5 && y - 2.0 * floor(y / 2.0) == 1.0 ? y - 1.0 : y
end
def num gelu_tanh_slope(num x)
  num y = tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))
  return 0.5 * (1.0 + y) + 0.5 * x * (1.0 - y * y) * 0.7978845608028654 * (1.0 + 0.134145 * x * x)
end
def int find_as_is(texts known, text t)
  for k to count(known)
    if same(known[k], t)
      return k
    end
  end
  for k to count(known)
    if same(whole_text(known[k]), t)
      return k
    end
  end
  return -1
end
def int find(texts known, text t)
  int k = find_as_is(known, t)
  return k >= 0 ? k : find_as_is(known, whole_text(t))
end
def int digit(text t)
  for k to 10
    if same(t, part("0123456789", k, k + 1))
      return k
    end
  end
  return -1
end
def text whole_text(text t)
  int leading = size(t) > 1 && same(part(t, 0, 1), "-") ? 1 : 0
  int at = -1
  for k to size(t)
    text c = part(t, k, k + 1)
    if at < 0 && k > leading && (same(c, ".") || same(c, ","))
      at = k
    else
      if digit(c) < 0 && (k > 0 || leading == 0) || at >= 0 && digit(c) != 0
        return t
      end
    end
  end
  if at < 0 || at == size(t) - 1 || size(t) - at - 1 == 3
    return t
  end
  text digits = part(t, leading, at)
  if same(digits, "0")
    return digits
  end
  return same(part(digits, 0, 1), "0") ? t : part(t, 0, at)
end
def int is_missing(text t)
  if size(t) == 0
    return 1
  end
  for k to count(MISSING)
    if same(MISSING[k], t)
      return 1
    end
  end
  return 0
end
def num share_of(list quantiles, num x)
  int below = 0
  int upto = 0
  int last = count(quantiles) - 1
  for k to last + 1
    below = below + (quantiles[k] < x ? 1 : 0)
    upto = upto + (quantiles[k] <= x ? 1 : 0)
  end
  if below < upto
    return (below + upto - 1.0) / 2.0 / last
  end
  if below == 0
    return 0.0
  end
  if below > last
    return 1.0
  end
  num before = quantiles[below - 1]
  return (below - 1.0 + (x - before) / (quantiles[below] - before)) / last
end
def num tail_quantile(num p)
  num q = sqrt(-2.0 * log(p))
  num above = ((((-7.784894002430293e-03 * q - 3.223964580411365e-01) * q - 2.400758277161838e+00) * q - 2.549732539343734e+00) * q + 4.374664141464968e+00) * q + 2.938163982698783e+00
  return above / ((((7.784695709041462e-03 * q + 3.224671290700398e-01) * q + 2.445134137142996e+00) * q + 3.754408661907416e+00) * q + 1.0)
end
def num normal_quantile(num p)
  if p < 0.02425
    return tail_quantile(p)
  end
  if p > 0.97575
    return -tail_quantile(1.0 - p)
  end
  num q = p - 0.5
  num r = q * q
  num above = (((((-3.969683028665376e+01 * r + 2.209460984245205e+02) * r - 2.759285104469687e+02) * r + 1.383577518672690e+02) * r - 3.066479806614716e+01) * r + 2.506628277459239e+00) * q
  return above / (((((-5.447609879822406e+01 * r + 1.615858368580409e+02) * r - 1.556989798598866e+02) * r + 6.680131188771972e+01) * r - 1.328068155288572e+01) * r + 1.0)
end
def none number(row r, text column, int plain, text scaling, num center, num scale, list quantiles, int q, num fill, int indicator, out y, int f)
  text t = field(r, column)
  int missing = is_missing(t)
  num x = fill
  if missing == 0
    if plain == 0 && is_text(r, column)
      raise joined("expected a number, not a text, in column ", column)
    end
    x = parsed(t, column)
  end
  if same(scaling, "log1p")
    x = x < 0.0 ? -log1p(-x) : log1p(x)
  end
  if same(scaling, "quantile")
    num share = share_of(quantiles, x)
    y[f] = normal_quantile(share < 1e-7 ? 1e-7 : share > 0.9999999 ? 0.9999999 : share)
  else
    y[f] = (x - center) / scale
  end
  if indicator == 1
    y[f + 1] = missing + 0.0
  end
end
def num number_slope(row r, text column, text scaling, num scale)
  text t = field(r, column)
  if is_missing(t) == 1
    return 0.0
  end
  return same(scaling, "log1p") ? 1.0 / (1.0 + fabs(parsed(t, column))) / scale : 1.0 / scale
end
def none flag(row r, text column, texts words, num fill, int indicator, out y, int f)
  text t = field(r, column)
  text word = lower(whole_text(t))
  int known = is_missing(t) == 0 && find(words, word) >= 0 ? 1 : 0
  int yes = same(word, "1") || same(word, "true") || same(word, "yes") || same(word, "t") || same(word, "y") ? 1 : 0
  y[f] = known == 1 ? yes + 0.0 : fill
  if indicator == 1
    y[f + 1] = 1.0 - known
  end
end
def int place(row r, text column, texts known, int missing)
  text t = field(r, column)
  int k = size(t) > 0 ? find(known, t) : -1
  if k >= 0
    return k + 1
  end
  return is_missing(t) == 1 ? missing : 0
end
def int days(int year, int month, int day)
  int y = month <= 2 ? year - 1 : year
  int m = month <= 2 ? month + 9 : month - 3
  return y * 365 + div(y, 4) - div(y, 100) + div(y, 400) + div(153 * m + 2, 5) + day - 1 - 719468
end
def none circle(num turn, out y, int f)
  y[f] = sin(6.283185307179586 * turn)
  y[f + 1] = cos(6.283185307179586 * turn)
end
def list date_parts(text t, text column)
  list p = zeros(12)
  int k = 0
  int open = 0
  for i to size(t)
    int d = digit(part(t, i, i + 1))
    if d < 0
      open = 0
      if find_as_is(BETWEEN, part(t, i, i + 1)) < 0
        k = 9
      end
    else
      k = k + 1 - open
      open = 1
      if k <= 6
        p[k - 1] = p[k - 1] * 10.0 + d
        p[k + 5] = p[k + 5] + 1.0
        if p[k + 5] > (k <= 3 ? 4.0 : 2.0)
          k = 9
        end
      end
    end
  end
  if k < 3 || k == 4 || k > 6
    raise joined(joined(joined("expected a date of three numbers, and perhaps hours, minutes and seconds, in column ", column), "; got "), t)
  end
  return p
end
def none date(row r, text column, int order, int century, num mean, num std, num fill, int times, int indicator, out y, int f)
  text t = field(r, column)
  int missing = is_missing(t)
  num x = fill
  if missing == 0
    list p = date_parts(t, column)
    int first = whole(p[0])
    int second = whole(p[1])
    int third = whole(p[2])
    int by = first > 31 ? 0 : order
    int year = by == 0 ? first : third
    int month = by == 2 ? first : second
    int day = by == 0 ? third : by == 1 ? first : second
    int other = by == 0 ? 7 : 6
    if year < 100
      year = year + div(century + 99 - year, 100) * 100
    end
    int most = month == 12 ? 31 : days(year, month + 1, 1) - days(year, month, 1)
    if month < 1 || month > 12 || day < 1 || day > most || p[other] > 2.0 || p[other + 1] > 2.0 || p[3] > 23.0 || p[4] > 59.0 || p[5] > 60.0
      raise joined(joined(joined("no date in column ", column), ": "), t)
    end
    num part_of_day = (p[3] * 3600.0 + p[4] * 60.0 + p[5]) / 86400.0
    int date = days(year, month, day)
    x = date + part_of_day
    circle((date - days(year, 1, 1) + part_of_day) / 365.2425, y, f + 1)
    circle((date + 700003 - div(date + 700003, 7) * 7) / 7.0, y, f + 3)
    if times == 1
      circle(part_of_day, y, f + 5)
    end
  end
  y[f] = (x - mean) / std
  if indicator == 1
    y[f + 5 + 2 * times] = missing + 0.0
  end
end
)";

/// Returns each function's text by its name.
const std::map<std::string_view, std::string_view>& functions() {
  static const std::map<std::string_view, std::string_view> kFunctions = [] {
    std::map<std::string_view, std::string_view> all;
    constexpr std::string_view kBegin = "\ndef ";
    for (std::size_t from = 0; from != std::string_view::npos;) {
      const std::size_t end = kLibrary.find(kBegin, from + 1);
      const std::string_view text = kLibrary.substr(from + 1, end - from);
      const std::size_t open = text.find('(');
      const std::size_t name = text.rfind(' ', open) + 1;
      all.emplace(text.substr(name, open - name), text);
      from = end;
    }
    return all;
  }();
  return kFunctions;
}

}  // namespace

bool is_library_function(std::string_view name) { return functions().contains(name); }

std::set<std::string_view> with_callees(std::string_view source) {
  std::set<std::string_view> found;
  std::vector<std::string_view> open{source};
  while (!open.empty()) {
    const std::string_view text = open.back();
    open.pop_back();
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '"') {  // a literal
        for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\' ? 1U : 0U;
        continue;
      }
      if (text[i] == '#') {  // a comment
        i = std::min(text.find('\n', i), text.size());
        continue;
      }
      std::size_t end = i;
      while (end < text.size() && is_in_name(text[end])) ++end;
      if (end == i) continue;
      std::string_view name = text.substr(i, end - i);
      if (end < text.size() && text[end] == '(') {
        if (!functions().contains(name) && name.ends_with('f')) name.remove_suffix(1);  // erff
        const auto own = functions().find(name);
        if (own != functions().end() && found.insert(own->first).second)
          open.push_back(own->second);
      }
      i = end;
    }
  }
  return found;
}

std::string_view library_function(std::string_view name) { return functions().at(name); }

}  // namespace linnet
