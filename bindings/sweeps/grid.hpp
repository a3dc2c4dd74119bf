// The points of a sweep: every combination of the values of its axes.
// Axes in the order of rows, the slowest first: GPUs, engines, changes of the GPU, conditions, parameters.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/sweeps/value_list.hpp"
#include "hw/gpu.hpp"
#include "hw/setting.hpp"
#include "workloads/registry/registry.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::sweeps {

/// One axis. `fields` holds the values as cells of a CSV row; an empty value is the default.
struct Axis {
    std::string name;
    std::vector<std::string> values;
    std::vector<std::string> fields;
    std::vector<std::int64_t> numbers;  ///< of a parameter that takes numbers, if no value is empty
    bool is_condition = false;
    std::uint64_t stride = 1;  ///< points between two values of this axis
};

/// A GPU of the sweep, under the name that rows show.
struct GridGpu {
    std::string name;
    std::shared_ptr<const hw::Gpu> gpu;
};

/// An axis as given. `name` is a parameter or a condition in any spelling, or a key of the GPU ("gpu.KEY").
struct GivenAxis {
    std::string name;
    std::vector<std::string> values;
};

/// Rows that share a GPU, an engine and the changes of the GPU.
struct Setup {
    std::size_t gpu = 0;
    std::size_t engine = 0;
    std::vector<std::size_t> settings;  ///< index of the value of each axis of settings
};

class Grid {
  public:
    /// Throws Error for an unknown name or value, for an axis without values, for a name that comes twice,
    /// for a missing parameter, and for a parameter that has no effect at any point.
    Grid(std::string_view op, std::vector<GridGpu> gpus, std::vector<std::string> engines,
         std::vector<GivenAxis> axes);

    [[nodiscard]] const workloads::OperatorInfo& info() const { return *info_; }
    [[nodiscard]] std::uint64_t points() const { return points_; }
    /// Conditions and parameters, in the order of columns.
    [[nodiscard]] const std::vector<Axis>& axes() const { return axes_; }
    /// All axes in the order of rows, those of GPUs and engines too; an engine that was not given has none.
    [[nodiscard]] std::vector<const Axis*> all_axes() const;

    /// Points of one setup stand together: setup s has the points from s * points_per_setup() on.
    [[nodiscard]] std::uint64_t points_per_setup() const { return points_per_setup_; }
    [[nodiscard]] Setup setup(std::uint64_t index) const;
    [[nodiscard]] const std::string& engine_of(const Setup& setup) const;
    /// The GPU with its changes. Throws Error for changes that make an impossible GPU.
    [[nodiscard]] std::shared_ptr<const hw::Gpu> gpu_of(const Setup& setup) const;
    [[nodiscard]] bool changes_gpu() const { return !setting_axes_.empty(); }

    /// The header of a CSV file of rows, without line feed.
    [[nodiscard]] std::string header() const;
    /// Appends the cells of a point, each with a comma behind it.
    void append_cells(std::string& text, std::uint64_t point) const;

    /// Index of a point's value on an axis.
    [[nodiscard]] static std::size_t value_at(const Axis& axis, std::uint64_t point) {
        return static_cast<std::size_t>(point / axis.stride % axis.values.size());
    }

  private:
    void add_axis(GivenAxis given);
    void add_setting_axis(GivenAxis given);
    void check_required() const;
    void check_used() const;
    void number_points();

    const workloads::OperatorInfo* info_;
    std::vector<GridGpu> gpus_;
    std::vector<std::string> engine_names_;
    bool engine_given_ = false;
    Axis op_axis_, gpu_axis_, engine_axis_;
    std::vector<Axis> setting_axes_;
    std::vector<std::vector<hw::Setting>> settings_;  ///< of each axis in setting_axes_
    std::vector<Axis> axes_;
    std::uint64_t points_ = 1;
    std::uint64_t points_per_setup_ = 1;
};

/// The columns that follow those of the axes.
inline constexpr std::string_view result_header = "time_us,low_us,high_us,limiter,status,error";

/// The values of a parameter, a condition or a key of the GPU, from text. A parameter of free text has one
/// value, since its text may hold commas. Throws Error.
[[nodiscard]] std::vector<std::string> values_of(const workloads::OperatorInfo& info, std::string_view name,
                                                 std::string_view text);

}  // namespace warptime::sweeps
