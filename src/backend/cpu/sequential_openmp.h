// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace linnet::cpu {

/// While it lives, OpenMP regions that this thread opens run on this thread alone: Linnet's own
/// team has handed out the work already. The caller's setting comes back afterwards.
class SequentialOpenMp {
 public:
  SequentialOpenMp();
  ~SequentialOpenMp();
  SequentialOpenMp(const SequentialOpenMp&) = delete;
  SequentialOpenMp& operator=(const SequentialOpenMp&) = delete;

 private:
  int before_;
};

}  // namespace linnet::cpu
