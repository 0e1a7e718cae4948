// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace linnet {

/// Returns whether a folder holds Data_Entry_2017.csv (or ..._v2020.csv), or a labels.csv with
/// a column 'patient' beside images.
bool holds_chest_xray(const std::filesystem::path& folder);

/// Says how patients are parted where neither lists nor a column say it.
enum class PatientOrder : std::uint8_t {
  shuffled,  ///< by the seed
  by_name,   ///< as their numbers rise
};

struct XrayOptions {
  PatientOrder order = PatientOrder::shuffled;
  std::uint64_t seed = 0;
};

/// One image: where it lies, and 1 for each label that was found in it.
struct XrayImage {
  std::filesystem::path path;
  std::string patient;
  std::vector<std::uint8_t> findings;
};

struct XrayIndex {
  std::vector<std::string> labels;
  std::vector<XrayImage> train;
  std::vector<XrayImage> validation;
  std::vector<XrayImage> test;
};

/// Reads the tables alone, no image. Source: Wang et al., "ChestX-ray8", 2017, and its 14 labels.
/// - Data_Entry_2017.csv: the columns 'Image Index', 'Finding Labels' ("Mass|Nodule") and
///   'Patient ID';
/// - or labels.csv: the columns 'file', 'patient', perhaps 'split' (train, valid or val, test), and
///   a column of 0 and 1 for each label.
/// Images lie in the folder or up to three folders deeper (images_001/images/). Parts: what the
/// column 'split' says; else, with train_val_list.txt and test_list.txt, the test set is the
/// list's and of the other patients 1/8 is for validation; else 70, 10 and 20 % of the patients. No
/// patient is in two parts unless the table says so.
/// Throws Error naming the file and line; images that are missing: their number, the first three.
XrayIndex index_chest_xray(const std::filesystem::path& folder, const XrayOptions& options = {});

}  // namespace linnet
