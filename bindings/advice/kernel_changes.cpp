// SPDX-License-Identifier: Apache-2.0
#include "bindings/advice/kernel_changes.hpp"

#include "bindings/advice/transforms/body.hpp"
#include "bindings/advice/transforms/coalesce.hpp"
#include "bindings/advice/transforms/coarsen.hpp"
#include "bindings/advice/transforms/conflicts.hpp"
#include "bindings/advice/transforms/fusion.hpp"
#include "bindings/advice/transforms/launch.hpp"
#include "bindings/advice/transforms/precision.hpp"
#include "bindings/advice/transforms/recompute.hpp"
#include "hw/error.hpp"
#include "hw/nearest_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

namespace warptime::advice {

namespace {

namespace mk = model::kernel;
using hw::Setting;
using mk::Kernel;

/// A whole number, absolute or as a multiple of `current`.
std::int64_t whole_number(const Setting& setting, std::int64_t current, std::int64_t least,
                          std::int64_t most) {
    double value = static_cast<double>(current) * setting.factor;
    if (setting.operation == Setting::Operation::absolute) {
        const char* const end = setting.text.data() + setting.text.size();
        const auto read = std::from_chars(setting.text.data(), end, value);
        if (read.ec != std::errc() || read.ptr != end) value = std::nan("");
    } else if (current < 1) {
        value = std::nan("");
    }
    if (!(value >= static_cast<double>(least)) || !(value <= static_cast<double>(most)) ||
        value != std::floor(value)) {
        throw Error("kernel." + setting.key, setting.text,
                    fmt::format("a whole number from {} to {}{}", least, most,
                                current > 0 ? fmt::format("; it is {} now", current) : ""));
    }
    return static_cast<std::int64_t>(value);
}

/// The only value of a change that is made or not.
void require_text(const Setting& setting, std::string_view text) {
    if (setting.text != text) {
        throw Error("kernel." + setting.key, setting.text,
                    fmt::format("{}: the change is made or left out", text));
    }
}

template <class Function>
bool made(const Setting& setting, Kernel& kernel, Function function) {
    require_text(setting, "1");
    return static_cast<bool>(function(kernel));
}

bool set_registers(Kernel& kernel, const hw::Gpu& gpu, const Setting& setting) {
    const auto most = static_cast<std::int64_t>(gpu.sm.registers_per_thread_max.value());
    const std::int64_t before = kernel.registers_per_thread;
    kernel.registers_per_thread = static_cast<std::int32_t>(whole_number(setting, before, 16, most));
    return kernel.registers_per_thread != before;
}

bool set_residents(Kernel& kernel, const hw::Gpu& gpu, const Setting& setting) {
    const auto most = static_cast<std::int64_t>(gpu.sm.ctas_max.value());
    const int now = residents_of(kernel, gpu).ctas_per_sm;
    const auto ctas = static_cast<int>(whole_number(setting, now, 1, most));
    if (ctas == now) return false;
    reach_residents(kernel, gpu, ctas);
    return true;
}

bool set_shared(Kernel& kernel, const hw::Gpu& gpu, const Setting& setting) {
    const auto most = static_cast<std::int64_t>(gpu.shared.per_cta_optin.value());
    const std::int64_t before = kernel.dynamic_shared;
    kernel.dynamic_shared = whole_number(setting, before, 0, most);
    return kernel.dynamic_shared != before;
}

bool set_caches(Kernel& kernel, const hw::Gpu& /*gpu*/, const Setting& setting) {
    constexpr std::array<std::string_view, 3> names{"cold", "warm", "dirty"};
    const auto found = hw::find_name(setting.text, names);
    if (!found) {
        throw Error("kernel.cache", setting.text, hw::expected_names(setting.text, names));
    }
    constexpr std::array<mk::Before, 3> states{mk::Before::cold, mk::Before::warm, mk::Before::dirty};
    bool changed = false;
    for (mk::Buffer& buffer : kernel.buffers) {
        if (buffer.space != mk::Space::global) continue;
        changed = changed || buffer.before != states[*found];
        buffer.before = states[*found];
    }
    return changed;
}

bool set_policy(Kernel& kernel, const hw::Gpu& /*gpu*/, const Setting& setting) {
    constexpr std::array<std::string_view, 4> names{"ca", "cg", "cs", "no_allocate"};
    const auto found = hw::find_name(setting.text, names);
    if (!found) {
        throw Error("kernel.cache_policy", setting.text, hw::expected_names(setting.text, names));
    }
    constexpr std::array<mk::CachePolicy, 4> policies{mk::CachePolicy::ca, mk::CachePolicy::cg,
                                                      mk::CachePolicy::cs, mk::CachePolicy::no_allocate};
    bool changed = false;
    for (mk::Access& access : kernel.accesses) {
        const bool global =
            kernel.buffers[static_cast<std::size_t>(access.buffer)].space == mk::Space::global;
        if (!global || access.direction != mk::Direction::read) continue;
        changed = changed || access.cache != policies[*found];
        access.cache = policies[*found];
    }
    return changed;
}

bool set_conflicts(Kernel& kernel, const hw::Gpu& gpu, const Setting& setting) {
    require_text(setting, "0");
    return swizzle_shared(kernel, gpu) > 0;
}

bool set_padding(Kernel& kernel, const hw::Gpu& gpu, const Setting& setting) {
    constexpr std::int64_t most = 1024;
    return pad_shared(kernel, gpu, whole_number(setting, 0, 1, most)) > 0;
}

bool set_width(Kernel& kernel, const hw::Gpu& /*gpu*/, const Setting& setting) {
    const auto bytes = whole_number(setting, 0, 2, 32);
    if ((bytes & (bytes - 1)) != 0) {
        throw Error("kernel.vector_bytes", setting.text, "2, 4, 8, 16 or 32 bytes a lane");
    }
    return vectorize(kernel, static_cast<std::int32_t>(bytes));
}

bool set_loads(Kernel& kernel, const hw::Gpu& /*gpu*/, const Setting& setting) {
    return unroll(kernel, whole_number(setting, 1, 2, 32));
}

bool set_parts(Kernel& kernel, const hw::Gpu& /*gpu*/, const Setting& setting) {
    return split_sums(kernel, whole_number(setting, 1, 2, 64));
}

bool set_spills(Kernel& kernel, const hw::Gpu& /*gpu*/, const Setting& setting) {
    require_text(setting, "0");
    return unspill(kernel);
}

bool set_group(Kernel& kernel, const hw::Gpu& /*gpu*/, const Setting& setting) {
    return raster(kernel, whole_number(setting, kernel.schedule.group, 1, 1 << 20));
}

bool set_batch(Kernel& kernel, const hw::Gpu& /*gpu*/, const Setting& setting) {
    return batch(kernel, whole_number(setting, 1, 2, 4096));
}

constexpr std::array<KernelChange, 26> known_changes{{
    {"registers", "a number", "registers of a thread", set_registers},
    {"ctas_per_sm", "a number", "resident CTAs, by registers or shared memory given up or left unused",
     set_residents},
    {"dynamic_shared", "bytes", "dynamic shared memory of a CTA", set_shared},
    {"cache", "cold, warm or dirty", "what the caches hold of the kernel's buffers", set_caches},
    {"cache_policy", "ca, cg, cs or no_allocate", "policy of its loads", set_policy},
    {"coalesce", "1", "lanes of a warp touch neighbouring bytes of global memory",
     [](Kernel& k, const hw::Gpu&, const Setting& s) { return made(s, k, coalesce); }},
    {"warp_per_row", "1", "a warp takes each row that a thread walked along",
     [](Kernel& k, const hw::Gpu&, const Setting& s) { return made(s, k, give_rows_to_warps); }},
    {"vector_bytes", "2, 4, 8, 16 or 32", "bytes a lane of contiguous accesses", set_width},
    {"align", "1", "rows begin at multiples of 128 bytes",
     [](Kernel& k, const hw::Gpu&, const Setting& s) { return made(s, k, align_rows); }},
    {"loads_in_flight", "2 to 32", "so many times as many loads before the first value is used", set_loads},
    {"split_sums", "2 to 64", "the loop over a sum shared out among so many CTAs, which add by atomics",
     set_parts},
    {"async_copy", "1",
     "what goes to shared memory through registers is copied asynchronously, one trip ahead",
     [](Kernel& k, const hw::Gpu&, const Setting& s) { return made(s, k, async_copy); }},
    {"tensor_cores", "1", "products of two loaded values by matrix instructions",
     [](Kernel& k, const hw::Gpu&, const Setting& s) { return made(s, k, multiply_by_matrices); }},
    {"pad_shared", "bytes", "bytes behind each row of shared arrays whose accesses conflict", set_padding},
    {"bank_conflicts", "0", "no access to shared memory conflicts, as with a swizzle", set_conflicts},
    {"spills", "0", "no loads and stores of spilled registers", set_spills},
    {"converge", "1", "lanes that take the same way share warps",
     [](Kernel& k, const hw::Gpu&, const Setting& s) { return made(s, k, converge); }},
    {"element_bytes", "0.5x", "elements of half the bytes, in memory and in arithmetic",
     [](Kernel& k, const hw::Gpu&, const Setting& s) {
         if (s.operation != Setting::Operation::scale || s.factor != 0.5) require_text(s, "0.5x");
         return halve_elements(k);
     }},
    {"fast_math", "1", "special functions without correcting arithmetic",
     [](Kernel& k, const hw::Gpu&, const Setting& s) { return made(s, k, use_fast_functions); }},
    {"fuse", "1", "the first input comes from the kernel before in registers, and is not read",
     [](Kernel& k, const hw::Gpu&, const Setting& s) { return made(s, k, fuse_with_producer); }},
    {"recompute", "1", "what is stored and read back is computed again",
     [](Kernel& k, const hw::Gpu&, const Setting& s) {
         return made(s, k, [](Kernel& one) { return recompute(one) > 0; });
     }},
    {"unserialize_wgmma", "1", "matrix products do not wait for the product before",
     [](Kernel& k, const hw::Gpu&, const Setting& s) { return made(s, k, unserialize_wgmma); }},
    {"aggregate_atomics", "1", "one atomic for all lanes that share an address",
     [](Kernel& k, const hw::Gpu&, const Setting& s) { return made(s, k, aggregate_atomics); }},
    {"privatize_atomics", "1", "a copy of the bins in shared memory for each CTA",
     [](Kernel& k, const hw::Gpu& g, const Setting& s) {
         require_text(s, "1");
         return privatize_atomics(k, g);
     }},
    {"raster_group", "a number", "rows of tiles that CTAs take together", set_group},
    {"batch", "a number", "so many problems in one launch", set_batch},
}};

}  // namespace

std::span<const KernelChange> kernel_changes() {
    return known_changes;
}

const KernelChange* find_kernel_change(std::string_view name) {
    const auto found =
        std::find_if(known_changes.begin(), known_changes.end(),
                     [name](const KernelChange& change) { return hw::same_name(change.name, name); });
    return found == known_changes.end() ? nullptr : &*found;
}

void apply_change(const KernelChange& change, const Setting& setting, const hw::Gpu& gpu,
                  mk::Program& program) {
    bool changed = false;
    for (std::size_t k = 0; k < program.kernel_count; ++k) {
        Kernel kernel = program.kernels[k];
        if (change.apply(kernel, gpu, setting)) {
            program.kernels[k] = std::move(kernel);
            changed = true;
        }
    }
    if (!changed) {
        throw Error("kernel." + setting.key, setting.text,
                    fmt::format("a change with an effect: this kernel is so already, or has nothing that it "
                                "could change ({}: {})",
                                change.name, change.meaning));
    }
}

}  // namespace warptime::advice
