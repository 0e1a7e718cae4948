// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace linnet {

/// Returns the number of this process.
int process_id();
/// Returns whether there is a process with this number.
bool process_lives(int process);
/// Returns when a process began, in seconds since 1970; 0 where that is not known.
double process_begin(int process);

/// Returns bytes of memory of this machine, or the largest number where the system does not tell.
std::uint64_t machine_bytes();
/// Returns what this process may still take; 0 where the system does not tell.
std::size_t free_bytes();

/// Returns zero-filled pages, or nullptr where there are none left. Untouched pages cost nothing.
void* map_pages(std::size_t bytes);
void unmap_pages(void* pages, std::size_t bytes);
/// Asks for large pages; the system may refuse.
void prefer_huge_pages(void* pages, std::size_t bytes);

/// Returns the name of this machine, or "host".
std::string host_name();

}  // namespace linnet
