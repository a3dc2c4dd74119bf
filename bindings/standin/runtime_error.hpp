// The error that the runtime's next call reports, shared by the files of its functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/standin/device.hpp"

namespace warptime::standin {

/// Keeps a failure of this thread for cudaGetLastError; gives CUDA's number of it.
int failed(Status status);

}  // namespace warptime::standin
