/* SPDX-License-Identifier: Apache-2.0
 * Compiled as C99: the header is C, and version 1 of the interface looks in memory as it did when it was published. */
#include <linnet/c_api.h>

#define AT(type, member, offset) \
  typedef char offset_of_##type##_##member[offsetof(type, member) == (offset) ? 1 : -1]
#define SIZE(type, bytes) typedef char size_of_##type[sizeof(type) == (bytes) ? 1 : -1]

#if UINTPTR_MAX == 0xFFFFFFFFFFFFFFFFu /* other systems lay pointers out in their own way */
AT(linnet_array, name, 0);
AT(linnet_array, data, 8);
AT(linnet_array, bytes, 16);
AT(linnet_array, dims, 24);
AT(linnet_array, rank, 32);
AT(linnet_array, type, 36);
SIZE(linnet_array, 40);

AT(linnet_output, name, 0);
AT(linnet_output, data, 8);
AT(linnet_output, floats, 16);
SIZE(linnet_output, 24);

/* These two may grow at their ends; `size` says how much is there. */
AT(linnet_progress, size, 0);
AT(linnet_progress, epoch, 8);
AT(linnet_progress, epochs, 16);
AT(linnet_progress, samples_done, 24);
AT(linnet_progress, samples, 32);
AT(linnet_progress, loss, 40);
AT(linnet_progress, accuracy, 48);
AT(linnet_progress, validation_loss, 56);
AT(linnet_progress, validation_accuracy, 64);
AT(linnet_progress, epoch_ended, 72);

AT(linnet_training_report, size, 0);
AT(linnet_training_report, epochs, 8);
AT(linnet_training_report, loss, 16);
AT(linnet_training_report, accuracy, 24);
AT(linnet_training_report, validation_loss, 32);
AT(linnet_training_report, validation_accuracy, 40);
AT(linnet_training_report, test_loss, 48);
AT(linnet_training_report, test_accuracy, 56);
AT(linnet_training_report, stopped_early, 64);
AT(linnet_training_report, interrupted, 68);
#endif

/* Other languages write these numbers. */
typedef char codes[LINNET_OK == 0 && LINNET_ERROR == 1 && LINNET_DATA_ERROR == 2 && LINNET_DEVICE_ERROR == 3 &&
                           LINNET_OUT_OF_MEMORY == 4 && LINNET_INTERNAL_ERROR == 5
                       ? 1
                       : -1];
typedef char types[LINNET_F32 == 0 && LINNET_F64 == 1 && LINNET_U8 == 2 && LINNET_I32 == 3 && LINNET_I64 == 4 ? 1 : -1];
typedef char answers[LINNET_CLASSES == 0 && LINNET_LABELS == 1 && LINNET_SCORES == 2 && LINNET_VALUES == 3 ? 1 : -1];

int32_t call_with_nulls(int32_t which);

/* Calls function `which` with NULL and 0 for everything; -1: there is no such function. */
int32_t call_with_nulls(int32_t which) {
  switch (which) {
    case 0: return linnet_model_load(NULL, NULL, NULL);
    case 1: return linnet_model_load_bytes(NULL, 0, NULL, NULL);
    case 2: return linnet_model_create(NULL, NULL, NULL);
    case 3: return linnet_model_save(NULL, NULL);
    case 4: return linnet_model_inputs(NULL, NULL);
    case 5: return linnet_model_outputs(NULL, NULL);
    case 6: return linnet_model_input_name(NULL, 0, NULL);
    case 7: return linnet_model_output_name(NULL, 0, NULL);
    case 8: return linnet_model_input_type(NULL, 0, NULL);
    case 9: return linnet_model_input_shape(NULL, 0, NULL, NULL);
    case 10: return linnet_model_output_shape(NULL, 0, NULL, NULL);
    case 11: return linnet_model_parameters(NULL, NULL);
    case 12: return linnet_model_answers(NULL, NULL);
    case 13: return linnet_model_classes(NULL, NULL);
    case 14: return linnet_model_class_name(NULL, 0, NULL);
    case 15: return linnet_model_set_classes(NULL, NULL, 0);
    case 16: return linnet_predict(NULL, 0, NULL, 0, NULL, 0);
    case 17: return linnet_predict_probabilities(NULL, 0, NULL, 0, NULL, 0);
    case 18: return linnet_predict_arrays(NULL, NULL, 0, NULL, 0, 0);
    case 19: return linnet_count_rows(NULL, NULL, 0, NULL);
    case 20: return linnet_predict_rows(NULL, NULL, 0, NULL, 0, 0);
    case 21: return linnet_train(NULL, NULL, 0, NULL, 0, NULL, NULL, NULL, NULL);
    case 22: return linnet_train_table(NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    case 23: return linnet_evaluate(NULL, NULL, 0, NULL, 0, NULL, NULL);
    default: linnet_model_free(NULL); return -1;
  }
}
