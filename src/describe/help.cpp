// SPDX-License-Identifier: Apache-2.0
#include "describe/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/utf8.h"
#include "describe/nearest.h"

namespace linnet {
namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kTextColumn = 27;  // of the texts in a list

/// Returns the text in lines of at most kWidth columns that begin with so many spaces.
std::string wrapped(std::string_view text, std::size_t indent) {
  std::string out;
  std::size_t column = kWidth;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    // Of UTF-8 the first byte of each character counts.
    const auto width = static_cast<std::size_t>(std::ranges::count_if(word, begins_character));
    if (column + 1 + width > kWidth) {
      if (!out.empty()) out += '\n';
      out.append(indent, ' ');
      column = indent;
    } else {
      out += ' ';
      ++column;
    }
    out += word;
    column += width;
  }
  return out + "\n";
}

std::string in_cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) {
    text.insert(at, 1, '\\');
  }
  return text;
}

/// Returns what stands between backquotes or quotes in a docstring needs no more for Markdown; *
/// does.
std::string markdown_text(std::string_view text) {
  std::string out;
  bool code = false;
  for (const char c : text) {
    if (c == '`') code = !code;
    if (!code && (c == '*' || c == '_' || c == '<')) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string type_text(const Field& field) {
  std::string text = field.format->type();
  for (const std::string_view article : {"a ", "an "}) {
    if (text.starts_with(article)) return text.substr(article.size());
  }
  return text;
}

std::string default_text(const Description& description, const Field& field) {
  if (field.is_required) return "required";
  std::string text = to_toml(field.write(description.defaults.get()));
  return text == "\"\"" ? "" : text;
}

std::string help_text(const HelpPage& page) {
  std::string out = wrapped(fmt::format("{}: {}", page.fields.kind, page.docs.text), 0);
  if (!page.shapes.empty()) out += fmt::format("\nshapes  {}\n", page.shapes);
  out += page.fields.fields.empty() ? "" : "\nfields\n";
  for (const Field& field : page.fields.fields) {
    const std::string value = default_text(page.fields, field);
    const std::string_view word = field.is_required || value.empty() ? "" : "default ";
    out += fmt::format("  {}: {}{}{}{}\n", field.key, type_text(field), value.empty() ? "" : "; ",
                       word, value);
    out += wrapped(page.docs.of(field.key), 6);
  }
  return out + fmt::format("\nC++     {}\nTOML    {}\n", page.cpp, page.toml);
}

std::string help_markdown(const HelpPage& page) {
  std::string out =
      fmt::format("### {}\n\n{}\n\n", page.fields.kind, markdown_text(page.docs.text));
  if (!page.shapes.empty()) out += fmt::format("`{}`\n\n", page.shapes);
  if (!page.fields.fields.empty()) {
    out += "| field | type | default | meaning |\n| --- | --- | --- | --- |\n";
  }
  for (const Field& field : page.fields.fields) {
    const std::string value = default_text(page.fields, field);
    out += fmt::format("| `{}` | {} | {} | {} |\n", field.key, in_cell(type_text(field)),
                       value.empty() || field.is_required ? value
                                                          : fmt::format("`{}`", in_cell(value)),
                       in_cell(markdown_text(page.docs.of(field.key))));
  }
  if (!page.fields.fields.empty()) out += "\n";
  return out + fmt::format("```cpp\n{}\n```\n```toml\n{}\n```\n", page.cpp, page.toml);
}

std::string help_list(std::span<const HelpPage> pages) {
  std::string out;
  for (const HelpPage& page : pages) {
    out += fmt::format("{:<26} {}", page.fields.kind,
                       wrapped(first_sentence(page.docs.text), kTextColumn).substr(kTextColumn));
  }
  return out;
}

std::string help_document(std::span<const HelpPage> pages) {
  std::string out;
  for (const HelpPage& page : pages) {
    out += fmt::format("[{0}](#{0}){1}", page.fields.kind, &page == &pages.back() ? "\n" : ",\n");
  }
  for (const HelpPage& page : pages) out += fmt::format("\n{}", help_markdown(page));
  return out;
}

const HelpPage& find_page(std::span<const HelpPage> pages, std::string_view name,
                          std::string_view what) {
  std::vector<std::string> kinds;
  for (const HelpPage& page : pages) {
    if (page.fields.kind == name || page.fields.name == name) return page;
    kinds.emplace_back(page.fields.kind);
  }
  fail("there is no {} '{}'{}", what, name, did_you_mean(name, kinds));
}

}  // namespace linnet
