// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/datasets.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace linnet::command {

/// Returns where is kept what is fetched, unpacked or measured once: $XDG_CACHE_HOME/linnet or
/// ~/.cache/linnet, and without a home linnet-UID in the temporary folder, which nobody else may
/// enter. "" where there is none of these, or linnet-UID is somebody else's.
std::filesystem::path cache_folder();

/// Returns where --data looks for names: $LINNET_DATA, then the cache folder.
datasets::Places data_places();

struct LoadedData {
  Splits splits;
  /// Sentences for the user, one a line: what was decided, and what was taken instead of what was
  /// asked for.
  std::string note;
};

/// Prints each sentence of a note as a line of standard error.
void print_notes(const std::string& note);

/// datasets::load() in data_places(); "" is fashion-mnist. Where Fashion-MNIST cannot be had, drawn
/// digits take its place and the note says so.
LoadedData load_data(const std::string& name, const DatasetOptions& options);
LoadedData load_data(const std::string& name, std::uint64_t seed);

}  // namespace linnet::command
