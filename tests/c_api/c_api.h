// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <linnet/c_api.h>
#include <linnet/network.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace linnet::testing {

struct FreeModel {
  void operator()(linnet_model* model) const { linnet_model_free(model); }
};
using OwnedModel = std::unique_ptr<linnet_model, FreeModel>;

/// The network of most tests, as C describes it, and in C++.
inline constexpr const char* kNetwork =
    R"({"input": [4], "layers": [{"type": "dense", "units": 8}, "tanh", {"type": "dense", "units": 3}]})";
Network small_network();

OwnedModel make_model(const char* network = kNetwork,
                      const char* options = R"({"device": "cpu", "threads": 1, "seed": 3})");

/// Returns numbers in [-1, 1) that do not depend on anything.
std::vector<float> numbers(std::size_t count);

/// Expects a call to have ended with this code and a sentence that holds `words`.
void expect_error(std::int32_t code, std::int32_t expected, const std::string& words);

}  // namespace linnet::testing
