// Words of the text form for every enumeration of a description, in the order of the enumerators.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"

#include <array>
#include <cstddef>
#include <string_view>

namespace warptime::model::kernel {

/// Specialised below with the words of one enumeration.
template <class Enum>
struct EnumNames;

template <>
struct EnumNames<ScheduleKind> {
    static constexpr std::array<std::string_view, 5> words{"one_per_cta", "static_stride", "dynamic_counter",
                                                           "cluster_launch_control", "listed"};
};
template <>
struct EnumNames<Raster> {
    static constexpr std::array<std::string_view, 2> words{"along_m", "along_n"};
};
template <>
struct EnumNames<CtaPhase> {
    static constexpr std::array<std::string_view, 3> words{"any", "first_wave", "warm"};
};
template <>
struct EnumNames<Evidence> {
    static constexpr std::array<std::string_view, 3> words{"any", "pooled", "own"};
};
template <>
struct EnumNames<Space> {
    static constexpr std::array<std::string_view, 7> words{
        "global", "shared", "cluster_shared", "local", "constant", "host", "peer"};
};
template <>
struct EnumNames<Before> {
    static constexpr std::array<std::string_view, 4> words{"by_conditions", "cold", "warm", "dirty"};
};
template <>
struct EnumNames<Contents> {
    static constexpr std::array<std::string_view, 5> words{"unknown", "zeros", "random", "image",
                                                           "written_by"};
};
template <>
struct EnumNames<Direction> {
    static constexpr std::array<std::string_view, 3> words{"read", "write", "atomic"};
};
template <>
struct EnumNames<Bounds> {
    static constexpr std::array<std::string_view, 3> words{"clip", "wrap", "zero_fill"};
};
template <>
struct EnumNames<TextureUse> {
    static constexpr std::array<std::string_view, 6> words{"none",  "fetch",        "nearest",
                                                           "blend", "blend_volume", "gather"};
};
template <>
struct EnumNames<CachePolicy> {
    static constexpr std::array<std::string_view, 6> words{"ca",          "cg",          "cs",
                                                           "no_allocate", "evict_first", "evict_last"};
};
template <>
struct EnumNames<PatternKind> {
    static constexpr std::array<std::string_view, 8> words{"collective", "contiguous", "stride", "broadcast",
                                                           "random",     "chase",      "listed", "stream"};
};
template <>
struct EnumNames<Distribution> {
    static constexpr std::array<std::string_view, 2> words{"uniform", "zipf"};
};
template <>
struct EnumNames<TokenKind> {
    static constexpr std::array<std::string_view, 4> words{"mbarrier", "named_barrier", "async_group",
                                                           "flag"};
};
template <>
struct EnumNames<Scope> {
    static constexpr std::array<std::string_view, 4> words{"warp", "cta", "cluster", "grid"};
};
template <>
struct EnumNames<TokenKey> {
    static constexpr std::array<std::string_view, 3> words{"none", "stage", "tile"};
};
template <>
struct EnumNames<SignalOn> {
    static constexpr std::array<std::string_view, 2> words{"issue", "completion"};
};
template <>
struct EnumNames<Link> {
    static constexpr std::array<std::string_view, 4> words{"device", "host_to_device", "device_to_host",
                                                           "peer"};
};
template <>
struct EnumNames<Variable> {
    static constexpr std::array<std::string_view, 14> words{
        "tile",     "item_begin", "item_end", "problem", "cta_rank", "warp",    "thread_x",
        "thread_y", "thread_z",   "instance", "loop",    "nested",   "product", "power"};
};

template <class Enum>
[[nodiscard]] constexpr std::string_view name_of(Enum value) {
    const auto i = static_cast<std::size_t>(value);
    return i < EnumNames<Enum>::words.size() ? EnumNames<Enum>::words[i] : std::string_view("?");
}

}  // namespace warptime::model::kernel
