// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace linnet::command {

/// Says what a terminal shows beyond ASCII.
struct TerminalStyle {
  bool colour = false;  ///< not where NO_COLOR is set
  bool utf8 = false;    ///< as LC_ALL, LC_CTYPE or LANG say
};

/// Returns a bar of so many columns, filled up to `part` in [0, 1]: "[===   ]", or lines in UTF-8.
std::string bar_text(double part, int columns, const TerminalStyle& style);

/// Returns the columns that a text takes: colours take none, a letter of UTF-8 one.
std::size_t columns_of(const std::string& text);

/// The last line of standard error, drawn again and again where somebody sees it. It uses carriage
/// returns, blanks and colours but no other escape sequences, since notebooks show those or cut
/// them out.
class TerminalLine {
 public:
  TerminalLine();
  /// Whether standard error is a terminal that can draw a line again: not TERM=dumb, and not the
  /// log of a CI service, which sets CI.
  bool live() const { return live_; }
  /// Plain where it is not live.
  const TerminalStyle& style() const { return style_; }
  /// Columns of the terminal; 80 where it does not say.
  static std::size_t columns();
  /// Where it is live, shows `text` in place of what is there, cut at the last column; elsewhere
  /// prints it as a line.
  void draw(const std::string& text);
  /// Wipes what draw() has shown.
  void clear();

 private:
  bool live_;
  TerminalStyle style_ = {};
  std::size_t shown_ = 0;  ///< columns that the text takes
};

}  // namespace linnet::command
