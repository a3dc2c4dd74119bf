// Parsing and applying of KEY=VALUE settings. See the header.
// SPDX-License-Identifier: Apache-2.0
#include "hw/setting.hpp"

#include "hw/error.hpp"
#include "hw/key_rule.hpp"
#include "hw/trimmed.hpp"
#include "hw/unit.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace warptime::hw {
namespace {

constexpr std::string_view setting_form =
    "gpu.KEY=VALUE or kernel.KEY=VALUE with VALUE like '60 MiB', '2x', '+20%' or '-10%'";

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
    if (value.back() == 'x' && read_number(trimmed(value.substr(0, value.size() - 1)), number)) {
        setting.operation = Setting::Operation::scale;
        setting.factor = number;
    } else if (value.front() == '+' || value.front() == '-') {
        if (value.back() != '%' || !read_number(trimmed(value.substr(1, value.size() - 2)), number)) {
            throw Error(std::string(parameter), std::string(value),
                        "a number without a sign, or a relative change such as '+20%' or '-10%'");
        }
        setting.operation = Setting::Operation::scale;
        setting.factor = 1.0 + (value.front() == '-' ? -number : number) / 100.0;
        if (setting.factor < 0) {
            throw Error(std::string(parameter), std::string(value), "a reduction of at most 100 %");
        }
    }
}

/// Refuses a value that the key's rule does not allow. The message states the result of a relative change.
void require_allowed(std::size_t key, const Setting& setting, double value) {
    const std::string owner = "gpu." + setting.key;
    if (setting.operation == Setting::Operation::absolute) {
        check_value(key, value, owner, setting.text);
        return;
    }
    try {
        check_value(key, value, owner, setting.text);
    } catch (const Error& error) {
        throw Error(owner, setting.text,
                    error.expected() + "; this gives " + format_value(value, key_info[key].unit));
    }
}

template <class Field>
void assign(Field& field, std::size_t key, const Setting& setting) {
    const auto next = [&](double old) {
        const double value = setting.operation == Setting::Operation::scale
                                 ? old * setting.factor
                                 : parse_value(setting.text, key_info[key].unit, "gpu." + setting.key);
        require_allowed(key, setting, value);
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

void mark_set(Gpu& gpu, std::size_t key, const Setting& setting) {
    if (key < gpu.provenance.size()) {
        gpu.provenance[key].origin = Origin::set;
        gpu.provenance[key].source = "setting gpu." + setting.key + "=" + setting.text;
    }
}

/// Changes one more key because of `setting`.
void set_with(Gpu& gpu, const char* name, double value, const Setting& setting) {
    const std::size_t key = key_index(name);
    if (key_value(gpu, key) != value) {
        set_key_value(gpu, key, value);
        mark_set(gpu, key, setting);
    }
}

/// Totals of the whole chip stay when the number of SMs changes. Totals of all SMs follow the number.
void follow_sm_count(Gpu& gpu, double before, const Setting& setting) {
    const double now = gpu.sm.count.value();
    if (now == before) {
        return;
    }
    visit_keys(static_cast<GpuKeys&>(gpu), [&](std::size_t index, auto& field) {
        if constexpr (!is_key_list<std::remove_cvref_t<decltype(field)>>) {
            const KeyRule& rule = rule_of(index);
            if (rule.with_sms != WithSms::stays) {
                const double factor = rule.with_sms == WithSms::grows ? now / before : before / now;
                field = std::remove_cvref_t<decltype(field)>(
                    std::clamp(field.value() * factor, rule.least, rule.most));
                mark_set(gpu, index, setting);
            }
        }
    });
    // The floor plan of such a chip is not known.
    set_with(gpu, "cluster.groups", 0.0, setting);
    set_with(gpu, "gpc.count", std::min(gpu.gpc.count.value(), now), setting);
}

/// A smaller shared memory loses the larger carveouts, and CTAs cannot ask for more than its capacity.
void follow_shared_capacity(Gpu& gpu, const Setting& setting) {
    const Bytes capacity = gpu.shared.capacity;
    auto& carveouts = gpu.shared.carveouts;
    carveouts.erase(std::remove_if(carveouts.begin(), carveouts.end(),
                                   [&](const auto& size) { return !(size < capacity); }),
                    carveouts.end());
    carveouts.push_back(capacity);
    mark_set(gpu, key_index("shared.carveouts"), setting);
    const double room = std::max(0.0, capacity.value() - gpu.shared.reserved_per_cta.value());
    set_with(gpu, "shared.per_cta_optin", std::min(gpu.shared.per_cta_optin.value(), room), setting);
    set_with(gpu, "shared.per_cta_default", std::min(gpu.shared.per_cta_default.value(), room), setting);
}

/// Changes keys that depend on the key that `setting` has changed from `before`.
void follow(Gpu& gpu, std::size_t key, const Setting& setting, double before) {
    if (key_info[key].name == "sm.count") {
        follow_sm_count(gpu, before, setting);
    } else if (key_info[key].name == "gpc.count") {
        set_with(gpu, "cluster.groups", 0.0, setting);
    } else if (key_info[key].name == "shared.capacity") {
        follow_shared_capacity(gpu, setting);
    }
}

}  // namespace

Setting parse_setting(std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) {
        throw Error("setting", std::string(text), std::string(setting_form));
    }
    const std::string_view name = trimmed(text.substr(0, equals));
    const std::string_view value = trimmed(text.substr(equals + 1));
    Setting setting;
    std::string_view key;
    if (name.substr(0, 4) == "gpu.") {
        key = name.substr(4);
    } else if (name.substr(0, 7) == "kernel.") {
        setting.scope = Setting::Scope::kernel;
        key = name.substr(7);
    }
    if (key.empty() || value.empty()) {
        throw Error("setting", std::string(text), std::string(setting_form));
    }
    setting.key = std::string(key);
    setting.text = std::string(value);
    if (setting.scope == Setting::Scope::gpu) {
        (void)key_index(setting.key);
    }
    read_operation(setting, name);
    return setting;
}

void apply_setting(Gpu& gpu, const Setting& setting) {
    if (setting.scope != Setting::Scope::gpu) {
        throw Error("kernel." + setting.key, setting.text, "a key of the GPU here, with the prefix gpu.");
    }
    const std::size_t key = key_index(setting.key);
    const double old = key_value(gpu, key);
    visit_keys(static_cast<GpuKeys&>(gpu), [&](std::size_t index, auto& field) {
        if (index == key) {
            assign(field, index, setting);
        }
    });
    mark_set(gpu, key, setting);
    gpu.settings.emplace_back("gpu." + setting.key, setting.text);
    follow(gpu, key, setting, old);
    resolve_instructions(gpu);
}

void apply_settings(Gpu& gpu, std::span<const Setting> settings) {
    for (const Setting& setting : settings) {
        if (setting.scope == Setting::Scope::gpu) {
            apply_setting(gpu, setting);
        }
    }
}

}  // namespace warptime::hw
