// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace linnet::command {

/// The last line of standard error, drawn again and again where somebody sees it. It uses carriage
/// returns and blanks but no escape sequences, since notebooks show those or cut them out.
class TerminalLine {
 public:
  TerminalLine();
  /// Returns whether standard error is a terminal that can draw a line again: not TERM=dumb, and
  /// not the log of a CI service, which sets CI.
  bool live() const { return live_; }
  /// Columns of the terminal; 80 where it does not say.
  static std::size_t columns();
  /// Where it is live, shows `text` in place of what is there, cut at the last column; elsewhere
  /// prints it as a line. `text` is ASCII.
  void draw(std::string text);
  /// Wipes what draw() has shown.
  void clear();

 private:
  bool live_;
  std::size_t shown_ = 0;  ///< columns that the text takes
};

}  // namespace linnet::command
