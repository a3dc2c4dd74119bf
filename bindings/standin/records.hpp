// What a program did, one line of JSON a launch, copy or memset, for the parent to read.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/frontends/machine/interpreter/run.hpp"

#include <cstdint>
#include <string>

namespace warptime::standin {

struct LaunchRecord {
    std::string kernel;
    std::string mangled;
    workloads::frontends::machine::LaunchShape shape;
    int registers = 0;
    const workloads::frontends::machine::Code* code = nullptr;
    const workloads::frontends::machine::LaunchCounts* counts =
        nullptr;              ///< null where the launch was refused
    std::string description;  ///< text of the kernel; empty: none
    std::string error;
    /// Of the processor, spent by the launching thread: what other programs take meanwhile does not count.
    double seconds = 0.0;           ///< of interpretation
    double lowering_seconds = 0.0;  ///< of the description
};

/// Appends to the file that WARPTIME_RECORDS names; each line is written at once, so that it stays when the
/// program crashes.
class Records {
  public:
    Records();
    Records(const Records&) = delete;
    Records& operator=(const Records&) = delete;
    ~Records();

    void launch(const LaunchRecord& record);
    /// kind: "memcpy" or "memset"; link: "device", "host_to_device" or "device_to_host".
    void memory(const char* kind, const char* link, std::uint64_t bytes);
    void message(const std::string& text);

  private:
    void write(const std::string& line);
    int file_ = -1;
    bool lines_ = false;
};

}  // namespace warptime::standin
