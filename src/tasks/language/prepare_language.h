// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/language_task.h>

#include <filesystem>
#include <string>
#include <vector>

namespace linnet {

/// Does what language_task() does, with the characters that a model knows already; empty: those of
/// the training text.
LanguageTask prepare_language(const std::filesystem::path& path, const LanguageTaskOptions& options,
                              const std::vector<std::string>& known);

}  // namespace linnet
