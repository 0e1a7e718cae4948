// SPDX-License-Identifier: Apache-2.0
// A first program: reads a table, trains a classifier, prints its confusion matrix and a
// prediction, and saves it. run.py counts its lines by the rules of OpenNN's note.
#include <linnet/linnet.h>

#include <cstdio>

using namespace linnet;

int main() {
  const TableTask task = table_task(read_table("iris.csv"), {.target = "class"});
  Model model(task.network);
  model.set_table(task.transform);
  train(model, task.data, task.training);
  for (const std::int64_t samples : evaluate_metrics(model, task.data.test).confusion) {
    std::printf("%lld ", static_cast<long long>(samples));
  }
  const Tensor probabilities = model.predict_probabilities(task.data.test);
  std::printf("\nprobability of the first class: %g\n", probabilities.as<float>()[0]);
  model.save("iris.safetensors");
}
