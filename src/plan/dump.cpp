// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plan/plan.h"

namespace linnet {

std::string dump(const Plan& plan) {
  const Graph& graph = plan.graph;
  const auto operand = [&](Value v) {
    const Placement& p = plan.values[static_cast<std::size_t>(v.id)];
    const bool shared = p.root != v.id;
    return fmt::format("%{} {} {}+{}{}", v.id, to_string(graph.type(v)), to_string(p.storage),
                       p.offset, shared ? fmt::format(" (=%{})", p.root) : "");
  };
  std::string text;
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    std::vector<std::string> outputs;
    std::vector<std::string> inputs;
    for (Value v : node.outputs) outputs.push_back(operand(v));
    for (Value v : node.inputs) inputs.push_back(operand(v));
    const std::string attributes = to_string(node.op->attributes());
    text += fmt::format("{:3} {} '{}'{}{}{}\n", n, node.op->name(), node.name,
                        attributes.empty() ? "" : " ", attributes,
                        plan.runs(n) ? "" : "  [view: nothing runs]");
    for (const std::string& line : inputs) text += "      in  " + line + "\n";
    for (const std::string& line : outputs) text += "      out " + line + "\n";
    if (plan.runs(n)) {
      const Cost cost = cost_of(graph, node);
      text += fmt::format("      cost {:.0f} FLOP, {:.0f} bytes\n", cost.flops, cost.bytes);
    }
    if (plan.branches.is_side(n)) text += "      on the side branch\n";
    if (plan.branches.awaited_by(n) != Branches::kNobody) {
      text += fmt::format("      waits for {}\n", plan.branches.awaited_by(n));
    }
    if (n < plan.engines.size() && !plan.engines[n].empty()) {
      text += fmt::format("      engine {}\n", plan.engines[n]);
    }
    if (n < plan.chains.size() && !plan.chains[n].empty()) {
      text += fmt::format("      {}\n", plan.chains[n]);
    }
    if (plan.workspaces[n].bytes > 0) {
      text += fmt::format("      workspace {} bytes at {}\n", plan.workspaces[n].bytes,
                          plan.workspaces[n].offset);
    }
  }
  for (std::size_t s = 0; s < kStorages; ++s) {
    if (plan.bytes[s] > 0) {
      text += fmt::format("{:>12} {} bytes\n", to_string(static_cast<Storage>(s)), plan.bytes[s]);
    }
  }
  text += fmt::format("{:>12} {} bytes (the arena would be {} bytes if nothing were shared)\n",
                      "total", plan.total_bytes(), plan.unshared_bytes);
  text += fmt::format("{:>12} {} operators, {:.0f} FLOP, {:.0f} bytes read and written\n", "cost",
                      plan.running, plan.cost.flops, plan.cost.bytes);
  return text;
}

}  // namespace linnet
