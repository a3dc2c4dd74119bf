// Parsing and applying of KEY=VALUE settings. See the header.
// SPDX-License-Identifier: Apache-2.0
#include "hw/setting.hpp"

#include "hw/error.hpp"
#include "hw/unit.hpp"

#include <charconv>
#include <cmath>

namespace warptime::hw {
namespace {

constexpr std::string_view form =
    "gpu.KEY=VALUE or kernel.KEY=VALUE with VALUE like '60 MiB', '2x', '+20%' or '-10%'";

std::string_view trim(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) {
        return {};
    }
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool read_number(std::string_view text, double& number) {
    if (text.empty() || !((text.front() >= '0' && text.front() <= '9') || text.front() == '.')) {
        return false;
    }
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
    return status == std::errc() && end == text.data() + text.size() && std::isfinite(number);
}

/// "2x", "+20%" or "-10%"; leaves the setting absolute for anything else.
void read_operation(Setting& setting, std::string_view parameter) {
    const std::string_view value = setting.text;
    double number = 0;
    if (value.back() == 'x' && read_number(trim(value.substr(0, value.size() - 1)), number)) {
        setting.operation = Setting::Operation::scale;
        setting.factor = number;
    } else if (value.front() == '+' || value.front() == '-') {
        if (value.back() != '%' || !read_number(trim(value.substr(1, value.size() - 2)), number)) {
            throw Error(std::string(parameter), std::string(value),
                        "a relative change such as '+20%' or '-10%'");
        }
        setting.operation = Setting::Operation::scale;
        setting.factor = 1.0 + (value.front() == '-' ? -number : number) / 100.0;
        if (setting.factor < 0) {
            throw Error(std::string(parameter), std::string(value), "a reduction of at most 100 %");
        }
    }
}

void require_whole(const KeyInfo& info, const Setting& setting, double value) {
    if (info.integer && std::floor(value) != value) {
        throw Error("gpu." + setting.key, setting.text,
                    "a whole number; this gives " + format_value(value, info.unit));
    }
}

template <class Field>
void assign(Field& field, const KeyInfo& info, const Setting& setting) {
    const auto next = [&](double old) {
        const double value = setting.operation == Setting::Operation::scale
                                 ? old * setting.factor
                                 : parse_value(setting.text, info.unit, "gpu." + setting.key);
        if (!std::isfinite(value)) {
            throw Error("gpu." + setting.key, setting.text, "a value within the range of a double");
        }
        require_whole(info, setting, value);
        return value;
    };
    if constexpr (is_key_list<Field>) {
        if (setting.operation == Setting::Operation::absolute) {
            field.assign(1, typename Field::value_type(next(0)));
        } else {
            for (auto& element : field) {
                element = typename Field::value_type(next(element.value()));
            }
        }
    } else {
        field = Field(next(field.value()));
    }
}

}  // namespace

Setting parse_setting(std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) {
        throw Error("setting", std::string(text), std::string(form));
    }
    const std::string_view name = trim(text.substr(0, equals));
    const std::string_view value = trim(text.substr(equals + 1));
    Setting setting;
    std::string_view key;
    if (name.substr(0, 4) == "gpu.") {
        key = name.substr(4);
    } else if (name.substr(0, 7) == "kernel.") {
        setting.scope = Setting::Scope::kernel;
        key = name.substr(7);
    }
    if (key.empty() || value.empty()) {
        throw Error("setting", std::string(text), std::string(form));
    }
    setting.key = std::string(key);
    setting.text = std::string(value);
    if (setting.scope == Setting::Scope::gpu) {
        (void)key_index(setting.key);
    }
    read_operation(setting, name);
    return setting;
}

void apply_setting(Gpu<double>& gpu, const Setting& setting) {
    if (setting.scope != Setting::Scope::gpu) {
        throw Error("kernel." + setting.key, setting.text, "a key of the GPU here, with the prefix gpu.");
    }
    const std::size_t key = key_index(setting.key);
    visit_keys(static_cast<GpuKeys<double>&>(gpu), [&](std::size_t index, auto& field) {
        if (index == key) {
            assign(field, key_info[index], setting);
        }
    });
    if (key < gpu.provenance.size()) {
        gpu.provenance[key].origin = Origin::set;
        gpu.provenance[key].source = "setting gpu." + setting.key + "=" + setting.text;
    }
    resolve_instructions(gpu);
}

void apply_settings(Gpu<double>& gpu, std::span<const Setting> settings) {
    for (const Setting& setting : settings) {
        if (setting.scope == Setting::Scope::gpu) {
            apply_setting(gpu, setting);
        }
    }
}

}  // namespace warptime::hw
