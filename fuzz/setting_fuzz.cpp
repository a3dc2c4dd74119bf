// Any bytes as KEY=VALUE, either refused with Error or read; an accepted setting reads back equal.
// A GPU takes or refuses the setting. The setting's number survives being written with its unit.
// SPDX-License-Identifier: Apache-2.0
#include "fuzz/require.hpp"
#include "hw/error.hpp"
#include "hw/gpu_keys.hpp"
#include "hw/setting.hpp"
#include "hw/sheet.hpp"
#include "hw/unit.hpp"

#include <cmath>
#include <string>

namespace {

using namespace warptime::hw;

void write_and_read(double value, std::string_view unit) {
    constexpr double rounding = 1e-11;  // format_value writes 12 digits
    const std::string text = format_value(value, unit);
    const double again = parse_value(text, unit, "text of a value");
    warptime::fuzz::require(std::abs(again - value) <= rounding * value,
                            "a value written with its unit reads back");
}

void apply(const Setting& setting) {
    static const Gpu loaded = load_gpu("h200-sxm");
    static Gpu gpu;
    gpu = loaded;  // assignment keeps the memory, unlike a new copy
    try {
        apply_setting(gpu, setting);
    } catch (const warptime::Error&) {
        return;
    }
    const std::size_t key = key_index(setting.key);
    const double value = key_value(gpu, key);
    warptime::fuzz::require(std::isfinite(value) && value >= 0,
                            "a value that was set is finite, not negative");
    write_and_read(value, key_info[key].unit);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = warptime::fuzz::text_of(data, size);
    try {
        const Measure measure = parse_measure(text, "input");
        warptime::fuzz::require(std::isfinite(measure.value) && measure.value >= 0,
                                "a measure is finite, not negative");
    } catch (const warptime::Error&) {
    }
    Setting setting;
    try {
        setting = parse_setting(text);
    } catch (const warptime::Error&) {
        return 0;
    }
    const bool gpu = setting.scope == Setting::Scope::gpu;
    const Setting again = parse_setting((gpu ? "gpu." : "kernel.") + setting.key + "=" + setting.text);
    warptime::fuzz::require(again.scope == setting.scope && again.key == setting.key &&
                                again.text == setting.text && again.operation == setting.operation &&
                                again.factor == setting.factor,
                            "a setting reads back equal");
    warptime::fuzz::require(std::isfinite(setting.factor) && setting.factor >= 0,
                            "a factor is finite, not negative");
    apply(setting);
    return 0;
}
