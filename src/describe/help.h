// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "describe/docstrings.h"
#include "describe/field.h"

namespace linnet {

/// What help pages say of a described struct.
struct HelpPage {
  const Description& fields;
  const StructDocs& docs;
  std::string shapes;  ///< "(N, H, W, C) → (N, H', W', filters)"; empty: none
  std::string cpp;     ///< an example
  std::string toml;    ///< the same
};

/// For a terminal of 100 columns.
std::string help_text(const HelpPage& page);
/// A section of a document.
std::string help_markdown(const HelpPage& page);

/// "integer", without the article.
std::string type_text(const Field& field);
/// "required", or the default as TOML writes it; empty where that is an empty text.
std::string default_text(const Description& description, const Field& field);

}  // namespace linnet
