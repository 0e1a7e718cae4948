/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LINNET_C_API_H
#define LINNET_C_API_H

/// The C interface (C99): models, prediction and training for programs in C and in languages that
/// call C. docs/c-interface.md shows a whole program.
///
/// - Every function that can fail returns a linnet_code. linnet_last_error() has the sentence of
///   the calling thread's last call. No C++ exception leaves the library.
/// - What the library writes, it writes to memory of the caller, whose length it is told and
///   checks. Memory of the caller is used only during the call. A result is written only where the
///   call succeeds.
/// - Only handles are freed: linnet_model_free(). Texts that are returned belong to the library.
/// - Paths and other texts are UTF-8 and end with NUL.
/// - Options are JSON objects with the keys of the C++ structs, which are those of Python and of
///   configuration files: {"threads": 1}. NULL and "" mean defaults. An unknown key is an error.
/// - Predictions of one model may run on several threads at once. All other calls for a model need
///   the caller's synchronisation; models that differ do not affect each other.
///
/// Functions and structs of a version never change; a later version adds some
/// (linnet_c_api_version()). In liblinnet.so they have the symbol version LINNET_C_1.

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) || defined(__clang__)
#define LINNET_C_API __attribute__((visibility("default")))
#else
#define LINNET_C_API
#endif
#ifdef __cplusplus
#define LINNET_C_NOEXCEPT noexcept
extern "C" {
#else
#define LINNET_C_NOEXCEPT
#endif

/// Version of this header's interface; linnet_c_api_version() has that of the library.
#define LINNET_C_API_VERSION 1
/// Maximum number of dims of a shape.
#define LINNET_MAX_DIMS 8

/// Says how a call ended.
enum linnet_code {
  LINNET_OK = 0,             ///< it did what it says
  LINNET_ERROR = 1,          ///< a wrong argument, option, shape or network; a file that is refused
  LINNET_DATA_ERROR = 2,     ///< a file or data that cannot be read, are damaged or do not fit
  LINNET_DEVICE_ERROR = 3,   ///< a device that is missing or failed
  LINNET_OUT_OF_MEMORY = 4,  ///< the host or a device has less memory than is needed
  LINNET_INTERNAL_ERROR = 5  ///< a bug of the library; please report it
};

/// Names the element type of an array.
enum linnet_type {
  LINNET_F32 = 0,  ///< float
  LINNET_F64 = 1,  ///< double; becomes float
  LINNET_U8 = 2,   ///< uint8_t, such as the pixels of images
  LINNET_I32 = 3,  ///< int32_t: labels of classes, ids of words
  LINNET_I64 = 4   ///< int64_t; becomes int32_t
};

/// Says what the numbers of a model's first output mean.
enum linnet_answers {
  LINNET_CLASSES = 0,  ///< one class of several; linnet_predict_probabilities() applies softmax
  LINNET_LABELS = 1,   ///< independent labels; linnet_predict_probabilities() applies sigmoid
  LINNET_SCORES = 2,   ///< one class of several, the largest; there are no probabilities
  LINNET_VALUES = 3    ///< plain numbers; there are no probabilities
};

/// Holds a network with weights on a device.
typedef struct linnet_model linnet_model;

/// Describes an array of the caller: dense, row-major, one sample a row.
typedef struct linnet_array {
  const char* name;     ///< input or target; NULL: the only one
  const void* data;     ///< first element, aligned for its type
  size_t bytes;         ///< length of `data`; must be what type and dims need
  const int64_t* dims;  ///< dims, the first one is the number of samples
  int32_t rank;         ///< number of dims, from 1 to LINNET_MAX_DIMS
  int32_t type;         ///< a linnet_type
} linnet_array;

/// Describes where an output of a network is written.
typedef struct linnet_output {
  const char* name;  ///< output; NULL: the first one
  float* data;       ///< first element
  size_t floats;     ///< length of `data`; must be samples * floats of a sample's output
} linnet_output;

/// Reports the progress of a training.
typedef struct linnet_progress {
  size_t size;                 ///< bytes that the library filled; later versions append fields
  int64_t epoch;               ///< number of the epoch, from 1
  int64_t epochs;              ///< number of the last epoch
  int64_t samples_done;        ///< samples of this epoch trained so far
  int64_t samples;             ///< samples of an epoch
  double loss;                 ///< mean over the epoch so far
  double accuracy;             ///< share of right labels so far, in [0, 1]; NaN for values
  double validation_loss;      ///< at the end of an epoch, of the validation set; else NaN
  double validation_accuracy;  ///< at the end of an epoch, of the validation set; else NaN
  int32_t epoch_ended;         ///< 1 after the evaluations at the end of an epoch, else 0
} linnet_progress;

/// Hears of the progress, several times a second and after each epoch, on the thread that trains.
/// Returns 0 to go on, any other number to stop. It must return, not jump or throw. It may predict
/// with the model, and calls no other function for it.
typedef int32_t (*linnet_progress_function)(const linnet_progress* progress, void* user);

/// Reports a whole training.
typedef struct linnet_training_report {
  size_t size;                 ///< bytes of the caller's struct: sizeof(linnet_training_report)
  int64_t epochs;              ///< epochs trained, the last one perhaps in part
  double loss;                 ///< of the last epoch
  double accuracy;             ///< of the last epoch, in [0, 1]; NaN for values
  double validation_loss;      ///< of the last epoch; NaN without a validation set
  double validation_accuracy;  ///< of the last epoch; NaN without a validation set or for values
  double test_loss;            ///< of the last epoch; NaN without a test set
  double test_accuracy;        ///< of the last epoch; NaN without a test set or for values
  int32_t stopped_early;       ///< 1 where the option "patience" ended the training
  int32_t interrupted;         ///< 1 where the progress function ended it
} linnet_training_report;

/// Returns the number of this interface that the library implements: LINNET_C_API_VERSION or more.
LINNET_C_API int32_t linnet_c_api_version(void) LINNET_C_NOEXCEPT;
/// Returns the library's version, e.g. "0.1.0".
LINNET_C_API const char* linnet_version(void) LINNET_C_NOEXCEPT;
/// Returns the sentence on the last call of this thread that returned a linnet_code; "" where it
/// returned LINNET_OK. At most 2047 bytes; valid until the thread's next call. A goroutine must
/// stay on its thread between a call and this one (runtime.LockOSThread).
LINNET_C_API const char* linnet_last_error(void) LINNET_C_NOEXCEPT;

/// Loads the model of a file that Linnet wrote. `options`: those of ModelOptions, such as "device"
/// ("cpu", "cuda:0") and "threads" (0: all processors).
LINNET_C_API int32_t linnet_model_load(const char* path, const char* options,
                                       linnet_model** model) LINNET_C_NOEXCEPT;
/// Loads the model of the bytes of such a file.
LINNET_C_API int32_t linnet_model_load_bytes(const void* bytes, size_t size, const char* options,
                                             linnet_model** model) LINNET_C_NOEXCEPT;
/// Makes a model of a network that `network` describes, a JSON object: "input", the shape of a
/// sample, and "layers", a list of what `linnet layers` lists, e.g.
/// {"input": [4], "layers": [{"type": "dense", "units": 16}, "relu", {"type": "dense", "units":
/// 3}]}. An embedding in front reads ids. `options` are those of linnet_model_load(), and "seed",
/// that of the initial weights.
LINNET_C_API int32_t linnet_model_create(const char* network, const char* options,
                                         linnet_model** model) LINNET_C_NOEXCEPT;
/// Writes a model file, whole or not at all.
LINNET_C_API int32_t linnet_model_save(const linnet_model* model,
                                       const char* path) LINNET_C_NOEXCEPT;
/// Frees a model; NULL does nothing. The pointer and all texts of the model are invalid afterwards.
LINNET_C_API void linnet_model_free(linnet_model* model) LINNET_C_NOEXCEPT;

/// Gets the number of inputs.
LINNET_C_API int32_t linnet_model_inputs(const linnet_model* model,
                                         int32_t* count) LINNET_C_NOEXCEPT;
/// Gets the number of outputs.
LINNET_C_API int32_t linnet_model_outputs(const linnet_model* model,
                                          int32_t* count) LINNET_C_NOEXCEPT;
/// Gets the name of input `index`, from 0; valid until the model is freed.
LINNET_C_API int32_t linnet_model_input_name(const linnet_model* model, int32_t index,
                                             const char** name) LINNET_C_NOEXCEPT;
/// Gets the name of output `index`, from 0; valid until the model is freed.
LINNET_C_API int32_t linnet_model_output_name(const linnet_model* model, int32_t index,
                                              const char** name) LINNET_C_NOEXCEPT;
/// Gets the type of input `index`: LINNET_F32 (LINNET_U8 is taken, too), or LINNET_I32 for ids.
LINNET_C_API int32_t linnet_model_input_type(const linnet_model* model, int32_t index,
                                             int32_t* type) LINNET_C_NOEXCEPT;
/// Gets the shape of one sample of input `index`, without the number of samples. `dims` has room
/// for LINNET_MAX_DIMS numbers; `rank` gets how many were written, 0 for a single number.
LINNET_C_API int32_t linnet_model_input_shape(const linnet_model* model, int32_t index,
                                              int64_t* dims, int32_t* rank) LINNET_C_NOEXCEPT;
/// Gets the shape of one sample of output `index`, as linnet_model_input_shape() does.
LINNET_C_API int32_t linnet_model_output_shape(const linnet_model* model, int32_t index,
                                               int64_t* dims, int32_t* rank) LINNET_C_NOEXCEPT;
/// Gets the number of trained numbers.
LINNET_C_API int32_t linnet_model_parameters(const linnet_model* model,
                                             int64_t* count) LINNET_C_NOEXCEPT;
/// Gets what the first output means, a linnet_answers.
LINNET_C_API int32_t linnet_model_answers(const linnet_model* model,
                                          int32_t* answers) LINNET_C_NOEXCEPT;
/// Gets the number of class names; 0: the model has none.
LINNET_C_API int32_t linnet_model_classes(const linnet_model* model,
                                          int32_t* count) LINNET_C_NOEXCEPT;
/// Gets the name of a class by its label, from 0; valid until a call changes the model.
LINNET_C_API int32_t linnet_model_class_name(const linnet_model* model, int32_t label,
                                             const char** name) LINNET_C_NOEXCEPT;
/// Sets the class names by label. Model files hold them.
LINNET_C_API int32_t linnet_model_set_classes(linnet_model* model, const char* const* names,
                                              int32_t count) LINNET_C_NOEXCEPT;

/// Predicts samples of the only input, floats one sample after the other, and writes the first
/// output's floats. `inputs_floats` and `outputs_floats` are the lengths of the two arrays; they
/// must be `samples` times what the shapes say. The first call for a number of samples prepares it;
/// later ones allocate nothing on a CPU. With the option "threads": 1 calls run in parallel.
LINNET_C_API int32_t linnet_predict(const linnet_model* model, int64_t samples, const float* inputs,
                                    size_t inputs_floats, float* outputs,
                                    size_t outputs_floats) LINNET_C_NOEXCEPT;
/// Does the same, with probabilities in [0, 1] as outputs. Fails for a model that has none.
LINNET_C_API int32_t linnet_predict_probabilities(const linnet_model* model, int64_t samples,
                                                  const float* inputs, size_t inputs_floats,
                                                  float* outputs,
                                                  size_t outputs_floats) LINNET_C_NOEXCEPT;
/// Predicts from every input of a network, in arrays of any type that fits, and writes the outputs
/// that are asked for. `probabilities`: 1 makes them of the first output, 0 does not. An input of
/// sequences that have lengths takes these as the array "NAME.lengths".
LINNET_C_API int32_t linnet_predict_arrays(const linnet_model* model, const linnet_array* inputs,
                                           int32_t inputs_count, const linnet_output* outputs,
                                           int32_t outputs_count,
                                           int32_t probabilities) LINNET_C_NOEXCEPT;
/// Gets the number of rows of a delimited text (CSV), for the length of the outputs of
/// linnet_predict_rows(). `text` has `bytes` bytes; it need not end with NUL.
LINNET_C_API int32_t linnet_count_rows(const linnet_model* model, const char* text, size_t bytes,
                                       int64_t* rows) LINNET_C_NOEXCEPT;
/// Predicts the rows of a delimited text with a header, for a model that learned from a table: the
/// columns of its training in any order, with or without the target. Writes the first output's
/// floats for each row.
LINNET_C_API int32_t linnet_predict_rows(const linnet_model* model, const char* text, size_t bytes,
                                         float* outputs, size_t outputs_floats,
                                         int32_t probabilities) LINNET_C_NOEXCEPT;

/// Trains a model on arrays. A target is labels, LINNET_I32 (N), or values, LINNET_F32 (N, ...).
/// `options` are those of TrainingOptions, such as "epochs", "batch", "seed", "loss" and
/// "patience"; "optimizer" and "schedule", a kind or an object such as {"kind": "adam",
/// "learning_rate": 0.001}; and "validation", the share of the samples that choose the epoch (0 if
/// not given). `progress` and `report` may be NULL. A training that is stopped succeeds: the model
/// has the weights of that moment.
LINNET_C_API int32_t linnet_train(linnet_model* model, const linnet_array* inputs,
                                  int32_t inputs_count, const linnet_array* targets,
                                  int32_t targets_count, const char* options,
                                  linnet_progress_function progress, void* user,
                                  linnet_training_report* report) LINNET_C_NOEXCEPT;
/// Trains a new model on a table's file (CSV, TSV, also packed; .xlsx): it finds the columns'
/// types, splits the rows, and chooses network and recipe. `target`: the column to predict.
/// `options` has the objects "table" (how the file is read: TableOptions), "task" (the split and
/// how columns become numbers: TableTaskOptions), "training" (as of linnet_train(), without
/// "validation") and "model" (as of linnet_model_load()).
LINNET_C_API int32_t linnet_train_table(const char* path, const char* target, const char* options,
                                        linnet_progress_function progress, void* user,
                                        linnet_training_report* report,
                                        linnet_model** model) LINNET_C_NOEXCEPT;
/// Gets loss and accuracy over samples. `loss` and `accuracy` may be NULL; the accuracy of values
/// is NaN.
LINNET_C_API int32_t linnet_evaluate(linnet_model* model, const linnet_array* inputs,
                                     int32_t inputs_count, const linnet_array* targets,
                                     int32_t targets_count, double* loss,
                                     double* accuracy) LINNET_C_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
