// SPDX-License-Identifier: Apache-2.0
// Which graphs cuDNN has plans for, on devices that are only described to it: needs cuDNN, but no
// GPU. LINNET_WRITE_GOLDEN=1 before it writes their table anew, support.txt beside this file.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "cuda_cudnn/devices.h"
#include "cuda_cudnn/networks.h"

namespace linnet::cuda {
namespace {

constexpr std::array kMaths{CudnnMath::fp32, CudnnMath::tf32, CudnnMath::bf16, CudnnMath::fp16};

/// 'T': an engine with tensor cores; 'y': only others; '-': none. Each takes the graph when asked.
char support(const std::shared_ptr<CudnnTarget>& target, CudnnConvolution conv, CudnnMath math) {
  conv.math = math;
  const std::unique_ptr<CudnnGraph> graph = CudnnGraph::build(target, conv);
  if (!graph) return '-';
  bool any = false;
  for (int i = 0; i < graph->engines(); ++i) {
    if (any && !graph->tensor_cores(i)) continue;
    if (!graph->prepare(i)) continue;
    EXPECT_LE(graph->workspace_bytes(i), kCudnnWorkspaceLimit) << conv.describe();
    if (graph->tensor_cores(i)) return 'T';
    any = true;
  }
  return any ? 'y' : '-';
}

std::string cell(const std::shared_ptr<CudnnTarget>& target, const CudnnConvolution& conv) {
  std::string text;
  for (const CudnnMath math : kMaths) text += support(target, conv, math);
  return text;
}

constexpr std::size_t kCell = kMaths.size() + 1;  ///< and a blank

/// A cell of every device by row, and under "" the version of cuDNN that they hold for.
using Table = std::map<std::string, std::string>;

const std::string kTable = std::string(LINNET_TEST_FOLDER) + "/support.txt";

Table read_table() {
  std::ifstream file(kTable);
  Table table;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("cuDNN ")) table[""] = line.substr(6);
    const std::size_t bar = line.find(" | ");
    if (line.starts_with("#") || bar == std::string::npos) continue;
    table[line.substr(bar + 3)] = line.substr(0, bar);
  }
  return table;
}

void write_table() {
  const std::vector<Row> rows = network_rows();
  std::vector<std::string> lines(rows.size());
  for (const DescribedDevice& device : kDevices) {
    const std::shared_ptr<CudnnTarget> target = described_target(device);
    for (std::size_t i = 0; i < rows.size(); ++i) lines[i] += cell(target, rows[i].problem) + ' ';
  }
  std::ofstream file(kTable);
  file << "# By support_matrix_test with LINNET_WRITE_GOLDEN=1. A cell a device: fp32, tf32, "
          "bf16, fp16.\n# T: an engine with tensor cores, y: only others, -: none.\n#";
  for (const DescribedDevice& device : kDevices) file << ' ' << device.name << ',';
  file << "\ncuDNN " << cudnn_version() << '\n';
  for (std::size_t i = 0; i < rows.size(); ++i) file << lines[i] << "| " << rows[i].name << '\n';
}

class CudnnSupport : public testing::TestWithParam<std::size_t> {};

TEST_P(CudnnSupport, NetworksHaveThePlansOfTheTable) {
  const std::shared_ptr<CudnnTarget> target = described_target(kDevices.at(GetParam()));
  const std::vector<Row> rows = network_rows();
  const Table table = read_table();
  ASSERT_EQ(table.size(), rows.size() + 1) << kTable << " is missing or of other networks";
  const bool same_version = table.at("") == cudnn_version();
  for (const Row& row : rows) {
    const std::string expected = table.at(row.name).substr(kCell * GetParam(), kMaths.size());
    const std::string found = cell(target, row.problem);
    if (same_version) {
      EXPECT_EQ(found, expected) << row.name;
    }
    // Another cuDNN may choose otherwise, but must not lose what the networks need.
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_FALSE(found[i] == '-' && expected.at(i) != '-')
          << row.name << ": " << found << ", expected " << expected;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, CudnnSupport, testing::Range<std::size_t>(0, kDevices.size()),
                         [](const auto& info) {
                           return fmt::format("sm{}", kDevices.at(info.param).compute_capability);
                         });

/// A row for each network that is asked for, of a cell for each device, and no other.
TEST(CudnnSupportTable, HasARowForEveryNetwork) {
  if (std::getenv("LINNET_WRITE_GOLDEN") != nullptr) write_table();
  Table table = read_table();
  EXPECT_EQ(table.erase(""), 1U) << "no version";
  for (const Row& row : network_rows()) {
    EXPECT_EQ(table[row.name].size(), kCell * kDevices.size() - 1) << row.name;
    table.erase(row.name);
  }
  for (const auto& [name, cells] : table) ADD_FAILURE() << "no network has the row " << name;
}

}  // namespace
}  // namespace linnet::cuda
