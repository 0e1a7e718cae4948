// SPDX-License-Identifier: Apache-2.0
// From the start of a process to its first prediction: 10 inputs, 64 units, 1 output, as in
// OpenNN's note on startup latency. run.py times the whole process.
#include <linnet/linnet.h>

#include <cstdio>
#include <vector>

using namespace linnet;

int main() {
  Model model(Network({10}, {Dense{.units = 64}, Tanh{}, Dense{.units = 1}}),
              {.device = "cpu", .threads = 1});
  const Tensor y = model.predict(Tensor(std::vector<float>(10, 1), {1, 10}), 1);
  std::printf("prediction %g\n", y.as<float>()[0]);
}
