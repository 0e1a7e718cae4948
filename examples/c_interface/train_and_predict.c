/* SPDX-License-Identifier: Apache-2.0
 * Learns whether a point lies in a circle, writes a model file, reads it and predicts with it.
 *   cc -std=c99 train_and_predict.c $(pkg-config --cflags --libs linnet-c) -o train_and_predict */
#include <linnet/c_api.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int32_t code) {
  if (code == LINNET_OK) return;
  fprintf(stderr, "%s\n", linnet_last_error());
  exit(1);
}

/* Called several times a second, and after each epoch. Another number than 0 stops the training. */
static int32_t show(const linnet_progress* progress, void* user) {
  (void)user;
  if (progress->epoch_ended && progress->epoch % 10 == 0) {
    printf("epoch %d: accuracy above 0.8: %d\n", (int)progress->epoch, progress->accuracy > 0.8);
  }
  return 0;
}

int main(void) {
  enum { kPoints = 1024 };
  static float points[kPoints][2];
  static int32_t inside[kPoints];
  uint32_t random = 1;
  for (int i = 0; i < kPoints; ++i) {
    for (int j = 0; j < 2; ++j) {
      random = random * 1664525u + 1013904223u;
      points[i][j] = (float)(random >> 8) / (1 << 23) - 1;
    }
    inside[i] = points[i][0] * points[i][0] + points[i][1] * points[i][1] < 0.5f;
  }

  linnet_model* model = NULL;
  check(linnet_model_create("{\"input\": [2], \"layers\": [{\"type\": \"dense\", \"units\": 32}, \"relu\","
                            "                             {\"type\": \"dense\", \"units\": 2}]}",
                            "{\"seed\": 1, \"threads\": 1}", &model));
  const int64_t points_dims[] = {kPoints, 2}, inside_dims[] = {kPoints};
  const linnet_array inputs = {NULL, points, sizeof(points), points_dims, 2, LINNET_F32};
  const linnet_array targets = {NULL, inside, sizeof(inside), inside_dims, 1, LINNET_I32};
  check(linnet_train(model, &inputs, 1, &targets, 1,
                     "{\"epochs\": 30, \"batch\": 32, \"optimizer\": {\"kind\": \"adam\", \"learning_rate\": 0.01}}",
                     show, NULL, NULL));
  const char* names[] = {"outside", "inside"};
  check(linnet_model_set_classes(model, names, 2));
  check(linnet_model_save(model, "circle.safetensors"));
  linnet_model_free(model);

  check(linnet_model_load("circle.safetensors", "{\"threads\": 1}", &model));
  const float some[2][2] = {{0.1f, 0.2f}, {0.9f, -0.8f}};
  float probabilities[2][2];
  check(linnet_predict_probabilities(model, 2, &some[0][0], 4, &probabilities[0][0], 4));
  for (int i = 0; i < 2; ++i) {
    const char* name = NULL;
    const int32_t label = probabilities[i][1] > probabilities[i][0];
    check(linnet_model_class_name(model, label, &name));
    printf("(%.1f, %.1f) is %s\n", some[i][0], some[i][1], name);
  }
  linnet_model_free(model);

  if (linnet_model_load("square.safetensors", NULL, &model) != LINNET_OK) printf("%s\n", linnet_last_error());
  return 0;
}
