// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/model.h>

#include <filesystem>

namespace linnet::command {

/// Writes data for the programs in benchmarks/peers, raw and little-endian, into `folder`, which is
/// made if it is not there: samples.bin (N records: u8, i32 or f32), targets.bin (N labels: i32; or
/// N records: f32), test_samples.bin and test_targets.bin if there is a test set, and at the end
/// data.json, which describes them: name, samples, test_samples, sample_shape, sample_dtype,
/// target_dtype, classes (0 for values). `model`, where it is given, is written to model.onnx for
/// engines that predict; where ONNX has no operators for it, data.json says so (no_model). Throws
/// Error for data that are read from files as a batch needs them or have several inputs or outputs,
/// and where the disk does not take them.
void export_data(const Splits& splits, const std::filesystem::path& folder,
                 const Model* model = nullptr);

}  // namespace linnet::command
