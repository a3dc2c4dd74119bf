// System: a box of several GPUs, its links, and how exchanges over them behave; with the origin of each
// number. Ignores: topologies inside a box beyond one switch, and oversubscribed networks. Source:
// hw/systems/<id>.toml for vendor facts, hw/systems/calibrations/<id>.toml for fitted constants.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/key.hpp"
#include "hw/provenance.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::hw {

/// Base units: bytes, seconds, bytes per second, bare numbers. hw/system_keys.toml says what each means.
struct SystemNumbers {
    struct {
        double gpus, most_gpus;
    } box{};
    struct {
        double links, bandwidth, reduction;
    } nvlink{};
    struct {
        double generation, lanes, bandwidth;
    } pcie{};
    struct {
        double memory;
    } host{};
    struct {
        double start, hop, rate;
    } flag{};
    struct {
        double start, hop, rate, most;
    } line{};
    struct {
        double start, hop, fill, efficiency, copy_rate;
    } bulk{};
    struct {
        double start, fill, efficiency;
    } in_switch{};
    struct {
        double start, each, flag_rate, bulk_start, channel_rate, drain_rate, fill, own_rate, efficiency;
    } peer{};
    struct {
        double gap;
    } call{};
    struct {
        double bandwidth, flag_hop, line_hop, bulk_hop, efficiency;
    } network{};
    struct {
        double exchange;
    } band{};
};

struct System : SystemNumbers {
    std::string id;                      ///< "hgx-h100-8"
    std::string name;                    ///< product name
    std::vector<std::string> gpus;       ///< sheets of the GPUs that the box ships with
    bool calibrated = false;             ///< constants rest on rows recorded on this system
    std::vector<Provenance> provenance;  ///< by the index of system_keys

    /// Bandwidth of a GPU's links within the box in one direction: NVLink, or PCI Express without it.
    [[nodiscard]] double link_bandwidth() const {
        return nvlink.bandwidth > 0.0 ? nvlink.bandwidth : pcie.bandwidth;
    }
};

/// Declaration of one key.
struct SystemKey {
    std::string name, unit, meaning;
    KeyKind kind = KeyKind::vendor;
    double least = 0.0, most = 0.0;
    bool or_zero = false, integer = false;
};

/// Declared keys, in the order of hw/system_keys.toml.
[[nodiscard]] std::span<const SystemKey> system_keys();

/// Names of the numbers that System keeps, in any order; equal to the names of system_keys.
[[nodiscard]] std::span<const std::string_view> system_fields();

[[nodiscard]] double system_value(const System& system, std::string_view key);

/// Ids of the embedded systems, sorted.
[[nodiscard]] std::span<const std::string_view> system_ids();

/// An embedded system. Throws Error naming the nearest id for an unknown one.
[[nodiscard]] const System& find_system(std::string_view id);

/// The system that ships with the GPU of a sheet. Throws Error naming `parameter` and the choices where there
/// is none or more than one.
[[nodiscard]] const System& system_of_gpu(std::string_view gpu, std::string_view parameter);

/// Reads a sheet and its calibrations, from the system's own to the most remote that it inherits. Errors name
/// `id` and the key: unknown tables and fields with the nearest name, wrong units, values out of range,
/// numbers without source, facts among constants and the reverse, and contradictions.
struct CalibrationText {
    std::string id, text;
};
[[nodiscard]] System parse_system(std::string_view sheet, const std::string& id,
                                  std::span<const CalibrationText> calibrations);

}  // namespace warptime::hw
