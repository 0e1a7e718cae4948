// SPDX-License-Identifier: Apache-2.0
// fuzz_seeds FOLDER: writes what fuzzing begins with.
#include <cstdio>
#include <exception>

#include "fuzz/seeds.h"

int main(int count, char** arguments) {
  if (count != 2) return std::fprintf(stderr, "usage: fuzz_seeds FOLDER\n"), 2;
  try {
    linnet::fuzz::write_seeds(arguments[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fuzz_seeds: %s\n", error.what());
    return 1;
  }
  return 0;
}
