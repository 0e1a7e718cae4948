// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "describe/docstrings.h"
#include "describe/field.h"

namespace linnet {

/// Text of a described struct's help page.
struct HelpPage {
  const Description& fields;
  StructDocs docs;
  std::string shapes;  ///< "(N, H, W, C) → (N, H', W', filters)"; empty: none
  std::string cpp;     ///< an example
  std::string toml;    ///< the same
};

/// For a terminal of 100 columns.
std::string help_text(const HelpPage& page);
/// Returns a section of a document.
std::string help_markdown(const HelpPage& page);

/// Returns a line a page: its kind and the first sentence of its text.
std::string help_list(std::span<const HelpPage> pages);
/// Links to the pages' sections, and the sections.
std::string help_document(std::span<const HelpPage> pages);
/// Returns the page of this kind, or of this name in C++. Throws Error for another name, with the
/// nearest one: "there is no layer 'conv'; did you mean 'conv1d'?".
const HelpPage& find_page(std::span<const HelpPage> pages, std::string_view name,
                          std::string_view what);

/// Returns text such as "integer", without the article.
std::string type_text(const Field& field);
/// Returns text such as "required", or the default as TOML writes it; empty where that is an empty
/// text.
std::string default_text(const Description& description, const Field& field);

}  // namespace linnet
