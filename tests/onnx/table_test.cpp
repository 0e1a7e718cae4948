// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linnet/onnx.h>

#include <fmt/format.h>

#include "base/files.h"

namespace linnet {
namespace {

// docs/interop.md has the table between these lines; a failure prints what belongs there.
TEST(OnnxOperators, stand_in_the_documentation) {
  const std::string page = read_file(LINNET_INTEROP_PAGE);
  const std::string begin = "<!-- ONNX operators: tests/onnx/table_test.cpp -->\n";
  const std::size_t from = page.find(begin);
  ASSERT_NE(from, std::string::npos);
  const std::size_t to = page.find("<!-- end -->", from);
  ASSERT_NE(to, std::string::npos);
  std::string wanted = "\n| operator | supported |\n| --- | --- |\n";
  for (const OnnxOperator& op : onnx_operators()) {
    wanted += fmt::format("| {} | {} |\n", op.name, op.limit.empty() ? "all" : op.limit);
  }
  EXPECT_EQ(page.substr(from + begin.size(), to - from - begin.size()), wanted + "\n");
}

}  // namespace
}  // namespace linnet
