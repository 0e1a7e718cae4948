// SPDX-License-Identifier: Apache-2.0
#pragma once

// Everything that a program needs. docs/api.md names the objects and the header of each.
#include <linnet/augment.h>
#include <linnet/batch.h>
#include <linnet/c_export.h>
#include <linnet/callback.h>
#include <linnet/checkpoint.h>
#include <linnet/convert.h>
#include <linnet/cross_attention.h>
#include <linnet/custom_metric.h>
#include <linnet/custom_operator.h>
#include <linnet/dataset.h>
#include <linnet/datasets.h>
#include <linnet/devices.h>
#include <linnet/error.h>
#include <linnet/expression.h>
#include <linnet/fleet.h>
#include <linnet/function_export.h>
#include <linnet/functions.h>
#include <linnet/generator.h>
#include <linnet/image_task.h>
#include <linnet/importance.h>
#include <linnet/inspect.h>
#include <linnet/intervals.h>
#include <linnet/language_task.h>
#include <linnet/layers.h>
#include <linnet/lbfgs.h>
#include <linnet/loss.h>
#include <linnet/metrics.h>
#include <linnet/model.h>
#include <linnet/network.h>
#include <linnet/onnx.h>
#include <linnet/optimize_inputs.h>
#include <linnet/optimizer.h>
#include <linnet/oversample.h>
#include <linnet/prediction_report.h>
#include <linnet/predictor.h>
#include <linnet/profile.h>
#include <linnet/quantize.h>
#include <linnet/ranks.h>
#include <linnet/record_source.h>
#include <linnet/run_log.h>
#include <linnet/samples.h>
#include <linnet/save_dataset.h>
#include <linnet/scaling.h>
#include <linnet/schedule.h>
#include <linnet/series_task.h>
#include <linnet/series_transform.h>
#include <linnet/state.h>
#include <linnet/table_task.h>
#include <linnet/table_transform.h>
#include <linnet/tables.h>
#include <linnet/tensor.h>
#include <linnet/text_task.h>
#include <linnet/trainer.h>
#include <linnet/training_warnings.h>
#include <linnet/types.h>
#include <linnet/version.h>
#include <linnet/whiten.h>
#include <linnet/zoo.h>

/// Trains and runs neural networks: docs/api.md names the objects in the order a reader needs them.
namespace linnet {}
