// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "workloads/attention/flash2.hpp"

namespace warptime::workloads::attention {

void lower_flash2_backward(const Problem&, const libraries::AttentionTile&, model::kernel::Program&) {
    throw Error("attention_backward", "", "not yet");
}

}  // namespace warptime::workloads::attention
