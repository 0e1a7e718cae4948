// SPDX-License-Identifier: Apache-2.0
#include "networks/networks.h"

namespace linnet::workloads {

Network gru_imdb() { return zoo::gru_text(); }

}  // namespace linnet::workloads
