// Power, clocks and temperature of the device as the driver's management library tells them.
// The library is loaded at run time. So a probe builds without the library's header.
// Without the library the probe still runs and finds nothing.
// Facts: NVML API reference (function names, field 186 for instant power).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness.cuh"

#include <dlfcn.h>

namespace probe {

class Nvml {
  public:
    Nvml() : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW)) {
        if (library_ == nullptr) return;
        const auto init = symbol<int()>("nvmlInit_v2");
        const auto by_bus = symbol<int(const char*, void**)>("nvmlDeviceGetHandleByPciBusId_v2");
        char bus[32] = "";
        PROBE_CHECK(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
        if (init == nullptr || by_bus == nullptr || init() != 0 || by_bus(bus, &device_) != 0)
            device_ = nullptr;
    }
    ~Nvml() {
        if (library_ != nullptr) dlclose(library_);
    }
    Nvml(const Nvml&) = delete;
    Nvml& operator=(const Nvml&) = delete;

    [[nodiscard]] bool found() const { return device_ != nullptr; }

    /// Power averaged by the driver (over a second on recent devices), in watt.
    [[nodiscard]] double average_power() const {
        return static_cast<double>(read<unsigned>("nvmlDeviceGetPowerUsage")) * 1e-3;
    }
    /// Power at this moment, in watt.
    [[nodiscard]] double instant_power() const {
        struct Field {
            unsigned id = 186;
            unsigned scope = 0;
            long long timestamp = 0;
            long long latency = 0;
            int type = 0;
            int status = -1;
            unsigned long long value = 0;
        } field;
        const auto query = symbol<int(void*, int, Field*)>("nvmlDeviceGetFieldValues");
        if (!found() || query == nullptr || query(device_, 1, &field) != 0 || field.status != 0) return 0.0;
        return static_cast<double>(field.value & 0xffffffffULL) * 1e-3;
    }
    [[nodiscard]] unsigned sm_clock() const {
        const auto query = symbol<int(void*, int, unsigned*)>("nvmlDeviceGetClockInfo");
        unsigned mhz = 0;
        constexpr int sm = 1;
        return found() && query != nullptr && query(device_, sm, &mhz) == 0 ? mhz : 0;
    }
    [[nodiscard]] unsigned temperature() const {
        const auto query = symbol<int(void*, int, unsigned*)>("nvmlDeviceGetTemperature");
        unsigned celsius = 0;
        return found() && query != nullptr && query(device_, 0, &celsius) == 0 ? celsius : 0;
    }
    /// The driver's bit mask of the reasons that hold the clock down now.
    [[nodiscard]] unsigned long long throttle_reasons() const {
        return read<unsigned long long>("nvmlDeviceGetCurrentClocksThrottleReasons");
    }

  private:
    template <typename Function>
    [[nodiscard]] Function* symbol(const char* name) const {
        return library_ == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library_, name));
    }
    template <typename Value>
    [[nodiscard]] Value read(const char* name) const {
        const auto query = symbol<int(void*, Value*)>(name);
        Value value{};
        return found() && query != nullptr && query(device_, &value) == 0 ? value : Value{};
    }
    void* library_;
    void* device_ = nullptr;
};

}  // namespace probe
