// SPDX-License-Identifier: Apache-2.0
#include "tasks/language/language_report.h"

#include <fmt/format.h>
#include <linnet/trainer.h>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/counted.h"

namespace linnet {
namespace {

using Json = nlohmann::ordered_json;
using Pair = std::pair<std::int32_t, std::int32_t>;

/// Counts characters, and pairs of a character and the next one. A character that never came gets
/// a share, too.
class Frequencies {
 public:
  explicit Frequencies(const Dataset& train)
      : count_(train.classes().size(), 1), before_(train.classes().size(), 0) {
    each_pair(train, [&](const Pair& pair) {
      ++count_[static_cast<std::size_t>(pair.second)];
      ++before_[static_cast<std::size_t>(pair.first)];
      ++pairs_[key_of(pair)];
      ++all_;
    });
    all_ += static_cast<double>(count_.size());
  }

  /// Returns the mean losses, in nats, of both kinds of frequencies.
  std::pair<double, double> losses(const Dataset& data) const {
    double alone = 0;
    double by_pair = 0;
    each_pair(data, [&](const Pair& pair) {
      const double share = count_[static_cast<std::size_t>(pair.second)] / all_;
      const auto found = pairs_.find(key_of(pair));
      const double together = found == pairs_.end() ? 0 : found->second;
      alone -= std::log(share);
      by_pair -= std::log((together + share) / (before_[static_cast<std::size_t>(pair.first)] + 1));
    });
    const auto all = static_cast<double>(data.inputs()[0].data.elements());
    return {alone / all, by_pair / all};
  }

 private:
  static std::uint64_t key_of(const Pair& pair) {
    return static_cast<std::uint64_t>(pair.first) << 32U | static_cast<std::uint32_t>(pair.second);
  }
  template <class F>
  static void each_pair(const Dataset& data, F&& f) {
    const std::span<const std::int32_t> from = data.inputs()[0].data.as<std::int32_t>();
    const std::span<const std::int32_t> to = data.targets()[0].data.as<std::int32_t>();
    for (std::size_t i = 0; i < from.size(); ++i) f(Pair(from[i], to[i]));
  }

  std::vector<double> count_;   ///< of the next characters
  std::vector<double> before_;  ///< of the characters before them
  std::unordered_map<std::uint64_t, double> pairs_;
  double all_ = 0;
};

double bits(double nats) { return nats / std::numbers::ln2; }

Json to_json(double nats) {
  return {{"bits_per_character", bits(nats)}, {"perplexity", std::exp(nats)}};
}

/// Says how good the model is beside frequencies of pairs.
Rivals rivals_of(double model, double by_pair, const std::string& part) {
  Rivals rivals;
  const std::string beside =
      fmt::format("frequencies of pairs of characters {:.2f}", bits(by_pair));
  rivals.verdict = fmt::format(
      "the model needs {:.2f} bits for a character of the {} set (perplexity {:.1f}), {}",
      bits(model), part, std::exp(model), beside);
  if (!(model < by_pair)) {
    rivals.worse = fmt::format(
        "the model is not better than frequencies: it needs {:.2f} bits for a character of the {} "
        "set, {}",
        bits(model), part, beside);
  }
  return rivals;
}

}  // namespace

TaskReport report_language(Model& model, const Dataset* train, const Dataset& held_out,
                           const std::string& part) {
  constexpr std::int64_t kBatch = 32;
  const Evaluation found = evaluate(model, held_out, Loss::automatic, kBatch);
  const std::string size =
      fmt::format("{} in windows of {}", counted(held_out.inputs()[0].data.elements(), "character"),
                  held_out.inputs()[0].record()[0]);
  TaskReport report{.key = "language"};
  report.json = to_json(found.loss);
  report.json["part"] = part;
  report.json["characters"] = held_out.inputs()[0].data.elements();
  report.json["accuracy"] = found.accuracy;
  std::vector<std::pair<const char*, double>> losses{{"this model", found.loss}};
  if (train != nullptr) {
    const auto [alone, by_pair] = Frequencies(*train).losses(held_out);
    losses.emplace_back("frequencies of pairs", by_pair);
    losses.emplace_back("frequencies", alone);
    report.json["pairs"] = to_json(by_pair);
    report.json["frequencies"] = to_json(alone);
    report.rivals = rivals_of(found.loss, by_pair, part);
  }
  ReportTable& table = report.rivals.table;
  table = {.title = fmt::format("Result ({} set)", part),
           .note = size + ".",
           .header = {"prediction", "bits per character", "perplexity"}};
  report.lines = {fmt::format("{} set: {}, {:.1f} % predicted right", part, size,
                              100 * found.accuracy),
                  fmt::format("{:<24}{:>20}{:>12}", "", "bits per character", "perplexity")};
  for (const auto& [name, loss] : losses) {
    const std::vector<std::string> row{name, fmt::format("{:.3f}", bits(loss)),
                                       fmt::format("{:.2f}", std::exp(loss))};
    report.lines.push_back(fmt::format("{:<24}{:>20}{:>12}", row[0], row[1], row[2]));
    table.rows.push_back(row);
  }
  return report;
}

}  // namespace linnet
