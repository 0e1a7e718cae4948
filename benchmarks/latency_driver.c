/* SPDX-License-Identifier: Apache-2.0
   Times model_predict() of a C file that `linnet export --c` wrote, one sample after another:
   SAMPLES OUTPUTS CALLS. Prints one JSON line; c_file.py compiles it. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "model.h"

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int less(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  static float sample[MODEL_IN_INPUT], output[MODEL_OUT_0];
  if (argc != 4) return 2;
  const size_t calls = (size_t)atol(argv[3]);
  FILE *samples = fopen(argv[1], "rb"), *outputs = fopen(argv[2], "wb");
  double *times = malloc(calls * sizeof *times);
  if (!samples || !outputs || !times || calls == 0) return 2;
  while (fread(sample, sizeof sample, 1, samples) == 1) {
    model_predict(sample, output);
    if (fwrite(output, sizeof output, 1, outputs) != 1) return 2;
  }
  for (size_t i = 0; i < calls / 10; ++i) model_predict(sample, output);
  for (size_t i = 0; i < calls; ++i) {
    const double begin = now();
    model_predict(sample, output);
    times[i] = now() - begin;
  }
  qsort(times, calls, sizeof *times, less);
  printf("{\"least_us\": %.4f, \"median_us\": %.4f, \"p99_us\": %.4f}\n", times[0] / 1e3,
         times[calls / 2] / 1e3, times[calls * 99 / 100] / 1e3);
  return fclose(outputs) != 0;
}
