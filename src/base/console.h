// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace linnet {

/// Makes the standard streams of a command usable: opens closed ones, whose numbers the next files
/// would get, so that output meant for a stream would land in a model or a history. Reading or
/// writing these places fails instead. On Windows they carry UTF-8 and bytes as they are.
void prepare_streams();

/// Returns a command's arguments in UTF-8: `arguments` itself where the system gives them so.
char** utf8_arguments(int count, char** arguments);

/// Returns an environment variable in UTF-8; nullptr where it is not set.
const char* environment(const char* name);

/// Returns whether standard error is a terminal.
bool error_is_terminal();
/// Returns the columns of standard error's terminal; 0 where it does not say.
int terminal_columns();
/// Returns whether a terminal shows UTF-8, as LC_ALL, LC_CTYPE or LANG say.
bool terminal_shows_utf8();

}  // namespace linnet
