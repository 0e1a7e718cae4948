// SPDX-License-Identifier: Apache-2.0
// Memory at rest: the least that a training needs is made, an empty network with its trainer,
// and nothing is trained, as in OpenNN's note on memory.
#include <linnet/linnet.h>

#include <cstdio>
#include <fstream>
#include <string>

using namespace linnet;

int main() {
  Model model(Network({1}, {Dense{.units = 1}}), {.device = "cpu"});
  const Trainer trainer(model, {.loss = Loss::mse, .optimizer = Adam{}});
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) std::printf("kilobytes %ld\n", std::stol(line.substr(6)));
  }
}
