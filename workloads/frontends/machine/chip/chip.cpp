// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/chip/chip.hpp"

#include "hw/error.hpp"
#include "model/machine/atomics/atomics.hpp"
#include "model/machine/l2/l2.hpp"
#include "model/machine/shared/shared.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace warptime::workloads::frontends::machine {

namespace {

std::int64_t power_of_two(const char* key, double value) {
    const auto whole = static_cast<std::int64_t>(value);
    if (whole <= 0 || static_cast<double>(whole) != value ||
        !std::has_single_bit(static_cast<std::uint64_t>(whole))) {
        throw Error(fmt::format("gpu.{}", key), fmt::format("{:g}", value),
                    "a power of two, to count the accesses of a compiled kernel");
    }
    return whole;
}

}  // namespace

Chip chip_of(const hw::Gpu& gpu) {
    Chip chip;
    chip.architecture = gpu.compute_major * 10 + gpu.compute_minor;
    chip.limits = model::machine::limits_of(gpu);
    chip.cache.sector = power_of_two("l1.sector", gpu.l1.sector.value());
    chip.cache.line = power_of_two("l1.line", gpu.l1.line.value());
    const auto sector = static_cast<double>(chip.cache.sector);
    chip.cache.constant_line = power_of_two("l1.constant_line", gpu.l1.constant_line.value());
    chip.cache.granule = chip.cache.sector * std::llround(gpu.dram.access_bytes.value() / sector);
    chip.banks = model::machine::banks_of(gpu);
    const double slices = std::max(1.0, model::machine::slices_of(gpu));
    chip.l2.slices = static_cast<int>(std::lround(slices));
    chip.l2.interval =
        (model::machine::l2_cycles(gpu.l2.access_bytes * model::machine::slice_visits(gpu), gpu) * slices)
            .value();
    chip.l2.latency = gpu.latency.l2_far.value();
    chip.l2.place_bits = model::machine::place_bits_of(gpu);
    chip.l2.lines_told_apart = model::machine::lines_told_apart(gpu);
    chip.l2.room =
        gpu.l2.capacity.value() * gpu.l2.partition_usable.value() / std::max(1.0, gpu.l2.partitions.value());
    (void)power_of_two("shared.banks", gpu.shared.banks.value());
    (void)power_of_two("shared.bank_width", gpu.shared.bank_width.value());
    return chip;
}

}  // namespace warptime::workloads::frontends::machine
