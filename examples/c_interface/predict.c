/* SPDX-License-Identifier: Apache-2.0
 * Predicts with a model file, and prints the class names and the outputs: predict MODEL. */
#include <linnet/c_api.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int32_t code) {
  if (code == LINNET_OK) return;
  fprintf(stderr, "%s\n", linnet_last_error());
  exit(1);
}

int main(int count, char** words) {
  if (count != 2) return 2;
  linnet_model* model = NULL;
  check(linnet_model_load(words[1], "{\"threads\": 1}", &model));
  int32_t classes = 0;
  check(linnet_model_classes(model, &classes));
  for (int32_t label = 0; label < classes; ++label) {
    const char* name = NULL;
    check(linnet_model_class_name(model, label, &name));
    printf("%s\n", name);
  }
  float samples[3][4], outputs[3][3];
  for (int i = 0; i < 12; ++i) samples[i / 4][i % 4] = 0.125f * (float)(i * 7 % 11 - 5);
  check(linnet_predict(model, 3, &samples[0][0], 12, &outputs[0][0], 9));
  for (int i = 0; i < 9; ++i) printf("%.9g\n", outputs[i / 3][i % 3]);
  linnet_model_free(model);
  return 0;
}
