// SPDX-License-Identifier: Apache-2.0
#include "commands/profile_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace linnet::command {
namespace {

std::string engine_of(const OperatorProfile& op) { return op.engine.empty() ? "-" : op.engine; }

}  // namespace

std::vector<KernelRow> kernels_of(const Profile& profile) {
  std::vector<KernelRow> rows;
  for (const OperatorProfile& op : profile.operators) {
    const auto same = std::find_if(rows.begin(), rows.end(), [&](const KernelRow& row) {
      return row.mean.name == op.name && row.mean.engine == op.engine &&
             row.mean.shapes == op.shapes && row.mean.flops == op.flops &&
             row.mean.bytes == op.bytes;
    });
    KernelRow& row = same != rows.end() ? *same : rows.emplace_back(KernelRow{op, 0});
    if (++row.count == 1) continue;
    row.mean.share += op.share;
    row.mean.seconds += (op.seconds - row.mean.seconds) / row.count;
  }
  for (KernelRow& row : rows) {
    OperatorProfile& op = row.mean;
    op.flops_per_second = op.seconds > 0 ? op.flops / op.seconds : 0;
    op.bytes_per_second = op.seconds > 0 ? op.bytes / op.seconds : 0;
    const auto part = [](double rate, double most) { return most > 0 ? rate / most : 0; };
    op.of_ceiling = std::max(part(op.flops_per_second, profile.flops_ceiling),
                             part(op.bytes_per_second, profile.bytes_ceiling));
  }
  return rows;
}

void add_rates(Json& row, const OperatorProfile& op) {
  row["seconds"] = op.seconds;
  row["share"] = op.share;
  row["flops"] = op.flops;
  row["bytes"] = op.bytes;
  row["flops_per_second"] = op.flops_per_second;
  row["bytes_per_second"] = op.bytes_per_second;
  row["of_ceiling"] = op.of_ceiling;
}

Json kernels_json(const std::vector<KernelRow>& kernels) {
  Json json = Json::array();
  for (const auto& [op, count] : kernels) {
    Json row{{"operator", op.name}, {"engine", op.engine}, {"shapes", op.shapes}, {"count", count}};
    add_rates(row, op);
    json.push_back(std::move(row));
  }
  return json;
}

std::string kernels_text(std::vector<KernelRow> kernels) {
  std::stable_sort(kernels.begin(), kernels.end(), [](const KernelRow& a, const KernelRow& b) {
    return a.mean.share > b.mean.share;
  });
  std::size_t name = 8;
  std::size_t engine = 6;
  std::size_t shapes = 6;
  for (const KernelRow& row : kernels) {
    name = std::max(name, row.mean.name.size());
    engine = std::max(engine, engine_of(row.mean).size());
    shapes = std::max(shapes, row.mean.shapes.size());
  }
  std::string out =
      fmt::format("{:<{}}  {:<{}}  {:<{}}  {:>5}  {:>10}  {:>5}  {:>9}  {:>8}  {:>8}\n", "operator",
                  name, "engine", engine, "shapes", shapes, "times", "µs each", "%", "GFLOP/s",
                  "GB/s", "% of roof");
  for (const auto& [op, count] : kernels) {
    out += fmt::format(
        "{:<{}}  {:<{}}  {:<{}}  {:>5}  {:>10.1f}  {:>5.1f}  {:>9.2f}  {:>8.2f}  {:>8}\n", op.name,
        name, engine_of(op), engine, op.shapes, shapes, count, 1e6 * op.seconds, 100 * op.share,
        1e-9 * op.flops_per_second, 1e-9 * op.bytes_per_second,
        op.of_ceiling > 0 ? fmt::format("{:.0f}", 100 * op.of_ceiling) : "-");
  }
  return out;
}

}  // namespace linnet::command
