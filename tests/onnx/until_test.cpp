// SPDX-License-Identifier: Apache-2.0
// Files that are read up to values that the caller names.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linnet/onnx.h>
#include <linnet/tensor.h>

#include <string>
#include <vector>

#include "onnx/byte_models.h"
#include "onnx/onnx_bytes.h"

namespace linnet {
namespace {

using B = testing::OnnxBytes;

/// Boxes and scores of x (N, 4), and what no network computes of them by a threshold.
B detector() {
  B model;
  model.more_inputs = {B::value("threshold", {1})};
  model.nodes = {B::node("Relu", {"x"}, {"boxes"}, "relu"),
                 B::node("Neg", {"boxes"}, {"scores"}, "neg"),
                 B::node("NonMaxSuppression", {"boxes", "scores", "threshold"}, {"kept"}, "nms"),
                 B::node("Identity", {"kept"}, {"y"}, "same")};
  return model;
}

TEST(OnnxUntil, reads_a_file_up_to_a_value) {
  EXPECT_NE(testing::refusal(detector())
                .find("[NonMaxSuppression 'nms'] this operator is not supported; "
                      "OnnxImportOptions::until (--until) reads the file up to a value before it"),
            std::string::npos);
  OnnxImport import = testing::import_of(detector(), {.until = {"scores", "boxes"}});
  ASSERT_EQ(import.inputs.size(), 1U);
  ASSERT_EQ(import.outputs.size(), 2U);
  EXPECT_EQ(import.outputs[0].name, "scores");
  EXPECT_EQ(import.outputs[1].name, "boxes");
  EXPECT_EQ(import.outputs[0].type, "FLOAT");
  EXPECT_EQ(import.outputs[0].dims, (std::vector<std::int64_t>{-1, 4}));
  testing::expect_near(import.model.predict(testing::floats({1, -2, 3, -4}, {1, 4})),
                       testing::floats({-1, 0, -3, 0}, {1, 4}), 0);
}

TEST(OnnxUntil, names_what_is_no_value) {
  const auto says = [](const std::vector<std::string>& until) {
    return testing::refusal(detector(), {.until = until});
  };
  for (const char* name : {"nothing", "x", ""}) {
    EXPECT_NE(says({name}).find(fmt::format("'{}' is computed by no node", name)),
              std::string::npos)
        << says({name});
  }
  EXPECT_NE(says({"boxes", "boxes"}).find("two outputs are named 'boxes'"), std::string::npos);
  EXPECT_NE(says({"kept"}).find("[NonMaxSuppression 'nms'] this"), std::string::npos);
}

}  // namespace
}  // namespace linnet
