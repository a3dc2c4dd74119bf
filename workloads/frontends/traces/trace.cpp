// Reads traces of torch.profiler event by event, so that only what is kept takes memory.
// Source: the trace format of PyTorch's Kineto, libkineto/src/output_json.cpp.
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "workloads/frontends/traces/profile.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <utility>

namespace warptime::workloads::traces {

namespace {

using Json = nlohmann::json;

/// Words in events of GPUs that are no NVIDIA GPUs, and what to call them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> other_vendors{{
    {"hipLaunchKernel", "AMD ROCm"},
    {"hipModuleLaunchKernel", "AMD ROCm"},
    {"hipExtModuleLaunchKernel", "AMD ROCm"},
    {"hipExtLaunchKernel", "AMD ROCm"},
    {"hipMemcpyWithStream", "AMD ROCm"},
    {"urEnqueueKernelLaunch", "Intel XPU"},
    {"zeCommandListAppendLaunchKernel", "Intel XPU"},
    {"piEnqueueKernelLaunch", "Intel XPU"},
    {"aclrtLaunchKernel", "Huawei Ascend"},
    {"musaLaunchKernel", "Moore Threads MUSA"},
}};
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> other_boards{{
    {"AMD", "AMD ROCm"},
    {"Instinct", "AMD ROCm"},
    {"Radeon", "AMD ROCm"},
    {"gfx", "AMD ROCm"},
    {"Intel", "Intel XPU"},
    {"Ascend", "Huawei Ascend"},
    {"MTT", "Moore Threads MUSA"},
}};

[[noreturn]] void refuse_vendor(const std::string& name, std::string_view vendor, std::string_view seen) {
    throw Error(name, fmt::format("a trace of {} ({})", vendor, seen), "a trace of an NVIDIA GPU");
}

/// The member, or null.
const Json* member(const Json& object, const char* name) {
    const auto found = object.find(name);
    return found == object.end() ? nullptr : &*found;
}

double number_of(const Json* value) {
    if (value == nullptr) return 0.0;
    if (value->is_number()) return value->get<double>();
    if (!value->is_string()) return 0.0;
    try {
        return std::stod(value->get<std::string>());
    } catch (const std::exception&) {
        return 0.0;
    }
}

std::optional<std::int64_t> id_of(const Json& arguments, std::initializer_list<const char*> names) {
    for (const char* name : names) {
        const Json* value = member(arguments, name);
        if (value != nullptr && value->is_number_integer()) return value->get<std::int64_t>();
    }
    return std::nullopt;
}

std::string extents_of(const Json* value) {
    if (value == nullptr || !value->is_array() || value->size() != 3) return {};
    std::string text;
    for (const Json& extent : *value) {
        if (!extent.is_number()) return {};
        text += fmt::format("{}{}", text.empty() ? "" : "x", extent.get<std::int64_t>());
    }
    return text;
}

/// Warptime's name of a C++ type of PyTorch; empty for other types.
std::string dtype_of(std::string_view type) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 14> types{{
        {"c10::BFloat16", "bf16"},
        {"c10::Half", "fp16"},
        {"float", "fp32"},
        {"double", "fp64"},
        {"long int", "int64"},
        {"long", "int64"},
        {"int", "int32"},
        {"signed char", "int8"},
        {"unsigned char", "int8"},
        {"bool", "int8"},
        {"c10::Float8_e4m3fn", "fp8"},
        {"c10::Float8_e5m2", "fp8"},
        {"c10::Float8_e4m3fnuz", "fp8"},
        {"c10::Float8_e8m0fnu", "fp8"},
    }};
    for (const auto& [theirs, ours] : types) {
        if (type == theirs) return std::string(ours);
    }
    return {};
}

std::vector<std::int64_t> integers_of(const Json& list) {
    std::vector<std::int64_t> values;
    for (const Json& value : list) {
        if (value.is_number_integer()) values.push_back(value.get<std::int64_t>());
    }
    return values;
}

const Json* at(const Json* list, std::size_t index) {
    return list != nullptr && list->is_array() && index < list->size() ? &(*list)[index] : nullptr;
}

TracedCall call_of(const std::string& name, const Json& arguments) {
    TracedCall call{name, {}};
    const Json* dims = member(arguments, "Input Dims");
    if (dims == nullptr) dims = member(arguments, "Input dims");
    const Json* types = member(arguments, "Input type");
    const Json* strides = member(arguments, "Input Strides");
    const Json* texts = member(arguments, "Concrete Inputs");
    const std::size_t count =
        std::max(dims != nullptr && dims->is_array() ? dims->size() : std::size_t{0},
                 texts != nullptr && texts->is_array() ? texts->size() : std::size_t{0});
    call.arguments.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
        TracedArgument& argument = call.arguments[i];
        const Json* text = at(texts, i);
        if (text != nullptr && text->is_string()) argument.text = text->get<std::string>();
        const Json* type = at(types, i);
        const std::string type_name = type != nullptr && type->is_string() ? type->get<std::string>() : "";
        const Json* shape = at(dims, i);
        const Json* stride = at(strides, i);
        if (shape == nullptr || !shape->is_array()) continue;
        argument.is_list = type_name == "TensorList" || (!shape->empty() && shape->front().is_array());
        const auto add = [&](const Json& extents, const Json* steps, const std::string& dtype) {
            TracedTensor tensor{integers_of(extents), {}, dtype};
            if (steps != nullptr && steps->is_array() && steps->size() == tensor.shape.size()) {
                tensor.stride = integers_of(*steps);
            }
            argument.tensors.push_back(std::move(tensor));
        };
        if (argument.is_list) {
            for (std::size_t part = 0; part < shape->size(); ++part) {
                if ((*shape)[part].is_array()) add((*shape)[part], at(stride, part), "");
            }
        } else if (type_name != "Scalar" && type_name != "ScalarList" && !type_name.empty()) {
            add(*shape, stride, dtype_of(type_name));
        }
    }
    return call;
}

/// Collects events.
class Collector {
  public:
    explicit Collector(std::string name) : name_(std::move(name)) {}

    void take(const Json& event) {
        const Json* phase = member(event, "ph");
        const Json* category = member(event, "cat");
        const Json* title = member(event, "name");
        if (phase == nullptr || *phase != "X" || category == nullptr || title == nullptr ||
            !category->is_string() || !title->is_string()) {
            return;
        }
        ++events_;
        const auto& kind = category->get_ref<const std::string&>();
        const auto& text = title->get_ref<const std::string&>();
        check_vendor(text);
        static const Json none = Json::object();
        const Json* given = member(event, "args");
        const Json& arguments = given != nullptr && given->is_object() ? *given : none;
        if (kind == "cpu_op" || kind == "Operator") {
            take_call(text, arguments);
        } else if (kind == "kernel" || kind == "Kernel" || kind == "gpu_memcpy" || kind == "gpu_memset" ||
                   kind == "Memcpy" || kind == "Memset") {
            take_kernel(kind, text, event, arguments);
        } else if (kind == "cuda_runtime" || kind == "cuda_driver" || kind == "Runtime") {
            const auto correlation = id_of(arguments, {"correlation"});
            const auto external = id_of(arguments, {"External id", "external id"});
            if (correlation && external) launched_[*correlation] = *external;
        } else if (kind == "xpu_runtime" || kind == "xpu_driver") {
            refuse_vendor(name_, "Intel XPU", kind);
        } else if (kind == "privateuse1_runtime" || kind == "mtia_runtime" || kind == "hpu_op") {
            refuse_vendor(name_, "another vendor's device", kind);
        }
    }

    void take_board(const Json& device) {
        const Json* title = member(device, "name");
        if (title == nullptr || !title->is_string()) return;
        for (const auto& [word, vendor] : other_boards) {
            if (title->get_ref<const std::string&>().find(word) != std::string::npos) {
                refuse_vendor(name_, vendor, title->get<std::string>());
            }
        }
        if (profile_.board.empty()) profile_.board = title->get<std::string>();
    }

    Profile finish() {
        if (profile_.kernels.empty()) {
            throw Error(name_, fmt::format("{} events and no kernel", events_),
                        "kernels of a GPU; torch.profiler records them with ProfilerActivity.CUDA");
        }
        std::vector<std::size_t> index(profile_.calls.size(), no_call);
        std::vector<TracedCall> kept;
        for (std::size_t i = 0; i < profile_.kernels.size(); ++i) {
            std::optional<std::int64_t> external = externals_[i].first;
            if (!external && externals_[i].second) {
                const auto found = launched_.find(*externals_[i].second);
                if (found != launched_.end()) external = found->second;
            }
            const auto call = external ? by_id_.find(*external) : by_id_.end();
            if (call == by_id_.end()) continue;
            // Only calls that launched something stay.
            std::size_t& place = index[call->second];
            if (place == no_call) {
                place = kept.size();
                kept.push_back(std::move(profile_.calls[call->second]));
            }
            profile_.kernels[i].call = place;
        }
        profile_.calls = std::move(kept);
        std::stable_sort(
            profile_.kernels.begin(), profile_.kernels.end(),
            [](const TracedKernel& a, const TracedKernel& b) { return a.start_us < b.start_us; });
        return std::move(profile_);
    }

  private:
    void check_vendor(const std::string& text) const {
        for (const auto& [word, vendor] : other_vendors) {
            if (text == word) refuse_vendor(name_, vendor, text);
        }
    }

    void take_call(const std::string& text, const Json& arguments) {
        const auto external = id_of(arguments, {"External id", "external id"});
        if (!external) return;
        by_id_[*external] = profile_.calls.size();
        profile_.calls.push_back(call_of(text, arguments));
    }

    void take_kernel(const std::string& kind, const std::string& text, const Json& event,
                     const Json& arguments) {
        TracedKernel kernel;
        kernel.kind = kind == "gpu_memcpy" || kind == "Memcpy"   ? TracedKind::memcpy
                      : kind == "gpu_memset" || kind == "Memset" ? TracedKind::memset
                                                                 : TracedKind::kernel;
        kernel.name = text;
        kernel.grid = extents_of(member(arguments, "grid"));
        kernel.block = extents_of(member(arguments, "block"));
        kernel.stream = static_cast<std::int64_t>(number_of(member(arguments, "stream")));
        kernel.start_us = number_of(member(event, "ts"));
        kernel.us = number_of(member(event, "dur"));
        kernel.bytes = number_of(member(arguments, "bytes"));
        if (!(kernel.us >= 0.0)) {
            throw Error(name_, fmt::format("dur {} of {}", kernel.us, text), "a duration in us, at least 0");
        }
        externals_.emplace_back(id_of(arguments, {"External id", "external id"}),
                                id_of(arguments, {"correlation"}));
        profile_.kernels.push_back(std::move(kernel));
    }

    std::string name_;
    Profile profile_;
    std::size_t events_ = 0;
    std::unordered_map<std::int64_t, std::size_t> by_id_;      ///< calls by their external id
    std::unordered_map<std::int64_t, std::int64_t> launched_;  ///< external ids by correlation
    std::vector<std::pair<std::optional<std::int64_t>, std::optional<std::int64_t>>> externals_;
};

/// Depth of an event in {"traceEvents": [{...}]}, and in a bare list of events.
constexpr int depth_in_object = 2;
constexpr int depth_in_list = 1;

}  // namespace

Profile read_trace(std::string_view text, const std::string& name) {
    Collector collector(name);
    const bool bare = text.substr(text.find_first_not_of(" \t\r\n\xEF\xBB\xBF")).starts_with('[');
    std::string section;
    bool has_events = bare;
    const auto visit = [&](int depth, Json::parse_event_t event, Json& parsed) {
        if (event == Json::parse_event_t::key && depth == 1 && !bare) {
            section = parsed.get<std::string>();
            has_events = has_events || section == "traceEvents";
        }
        if (event != Json::parse_event_t::object_end) return true;
        if (depth == (bare ? depth_in_list : depth_in_object)) {
            if (bare || section == "traceEvents") {
                collector.take(parsed);
                return false;
            }
            if (section == "deviceProperties") collector.take_board(parsed);
        }
        return true;
    };
    try {
        const Json rest = Json::parse(text.begin(), text.end(), visit);
        if (rest.is_object() &&
            (rest.contains("roctracer_version") || rest.contains("hip_runtime_version"))) {
            refuse_vendor(name, "AMD ROCm", "its versions are in the file");
        }
    } catch (const Json::parse_error& error) {
        const bool cut = error.byte + 1 >= text.size();
        throw Error(name, fmt::format("JSON that breaks at byte {} of {}", error.byte, text.size()),
                    cut ? "a whole trace; this file is truncated" : "a trace in JSON");
    }
    if (!has_events) throw Error(name, "JSON without traceEvents", "a trace as torch.profiler exports it");
    return collector.finish();
}

}  // namespace warptime::workloads::traces
