// SPDX-License-Identifier: Apache-2.0
#include "workloads/compilers/triton.hpp"

#include "hw/embedded_file.hpp"
#include "hw/error.hpp"
#include "hw/toml_file.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>

namespace warptime::workloads::compilers {

std::span<const hw::EmbeddedFile> embedded_compilers();

namespace {

/// One table of the file; the reader must ask for every number in it.
class Section {
  public:
    Section(const toml::table& root, std::string_view origin, std::string_view path)
        : owner_(fmt::format("{} {}", origin, path)), table_(root.at_path(path).as_table()) {
        if (table_ == nullptr) throw Error(owner_, "nothing", "a table of numbers with their source");
        const auto source = (*table_)["source"].value<std::string>();
        if (!source || source->empty()) throw Error(owner_ + " source", "", "where its numbers are from");
    }

    void read(std::string_view field, int& number) {
        const auto value = (*table_)[field].value_exact<std::int64_t>();
        if (!value) throw Error(fmt::format("{} {}", owner_, field), "", "a whole number");
        number = static_cast<int>(*value);
        ++read_;
    }
    void read(std::string_view field, double& number) {
        const auto value = (*table_)[field].value_exact<double>();
        if (!value) throw Error(fmt::format("{} {}", owner_, field), "", "a number with a point");
        number = *value;
        ++read_;
    }
    /// The count of numbers read. Throws Error for a number in the table that nobody asked for.
    [[nodiscard]] int finish() const {
        int numbers = 0;
        for (const auto& [name, node] : *table_) numbers += node.is_number() ? 1 : 0;
        if (numbers != read_) {
            throw Error(owner_, fmt::format("{} numbers", numbers), fmt::format("the {} known", read_));
        }
        return read_;
    }

  private:
    std::string owner_;
    const toml::table* table_;
    int read_ = 0;
};

void read_law(Section& s, RegisterLaw& law) {
    s.read("a", law.a);
    s.read("b", law.b);
    s.read("sums", law.sums);
    s.read("over", law.over);
    s.read("copies", law.copies);
    s.read("rest", law.rest);
}

void read_alignment(const toml::table& root, std::string_view origin, Triton& t) {
    {
        Section s(root, origin, "alignment");
        s.read("divisor", t.alignment.divisor);
        t.numbers += s.finish();
    }
}

void read_pipeline(const toml::table& root, std::string_view origin, Triton& t) {
    {
        Section s(root, origin, "pipeline");
        s.read("buffers_less_of_mma_sync", t.pipeline.buffers_less_of_mma_sync);
        t.numbers += s.finish();
    }
}

void read_registers(const toml::table& root, std::string_view origin, Triton& t) {
    {
        Section s(root, origin, "registers");
        s.read("pointer", t.registers.pointer);
        s.read("rest_of_wgmma", t.registers.rest_of_wgmma);
        s.read("rest_of_mma_sync", t.registers.rest_of_mma_sync);
        s.read("many_sums", t.registers.many_sums);
        s.read("with_many_sums", t.registers.with_many_sums);
        s.read("eight_bit_rest", t.registers.eight_bit_rest);
        s.read("eight_bit_copies", t.registers.eight_bit_copies);
        s.read("eight_bit_over", t.registers.eight_bit_over);
        s.read("by_descriptor", t.registers.by_descriptor);
        t.numbers += s.finish();
    }
}

void read_tensor_memory(const toml::table& root, std::string_view origin, Triton& t) {
    Section s(root, origin, "tensor_memory");
    s.read("rows", t.tensor_memory.rows);
    s.read("columns", t.tensor_memory.columns);
    s.read("warps_max", t.tensor_memory.warps_max);
    s.read("sums_held", t.tensor_memory.sums_held);
    s.read("sums_over", t.tensor_memory.sums_over);
    s.read("rest", t.tensor_memory.rest);
    t.numbers += s.finish();
}

void read_series(const toml::table& root, std::string_view origin, Triton& t) {
    {
        Section s(root, origin, "series");
        s.read("warps", t.series.warps);
        s.read("columns", t.series.columns);
        s.read("bytes", t.series.bytes);
        s.read("columns_of_split", t.series.columns_of_split);
        s.read("bytes_of_split", t.series.bytes_of_split);
        t.numbers += s.finish();
    }
}

void read_weights(const toml::table& root, std::string_view origin, Triton& t) {
    Section s(root, origin, "weights");
    s.read("eight_logic", t.weights.eight.logic);
    s.read("eight_moves", t.weights.eight.moves);
    s.read("eight_halves", t.weights.eight.halves);
    s.read("four_logic", t.weights.four.logic);
    s.read("four_shifts", t.weights.four.shifts);
    s.read("four_moves", t.weights.four.moves);
    s.read("four_halves", t.weights.four.halves);
    t.numbers += s.finish();
}

/// What products by wgmma and by mma.sync have alike.
template <class Products>
void read_products(Section& s, Products& of) {
    s.read("before", of.before);
    s.read("before_a", of.before_a);
    s.read("stage", of.stage);
    s.read("stage_copies", of.stage_copies);
    s.read("stage_over", of.stage_over);
    s.read("trip", of.trip);
    s.read("trip_a", of.trip_a);
    s.read("trip_b", of.trip_b);
    s.read("trip_over", of.trip_over);
}

void read_instructions(const toml::table& root, std::string_view origin, Triton& t) {
    {
        Section s(root, origin, "instructions");
        s.read("chain_before", t.instructions.chain_before);
        s.read("chain_after", t.instructions.chain_after);
        s.read("after", t.instructions.after);
        s.read("outputs_after_over", t.instructions.outputs_after_over);
        t.numbers += s.finish();
    }
    {
        Section s(root, origin, "instructions.wgmma");
        read_products(s, t.instructions.wgmma);
        s.read("before_b", t.instructions.wgmma.before_b);
        s.read("trip_products", t.instructions.wgmma.trip_products);
        t.numbers += s.finish();
    }
    {
        Section s(root, origin, "instructions.mma_sync");
        read_products(s, t.instructions.mma_sync);
        s.read("before_b", t.instructions.mma_sync.before_b);
        s.read("before_outputs_over", t.instructions.mma_sync.before_outputs_over);
        s.read("places", t.instructions.mma_sync.places);
        s.read("places_from_stages", t.instructions.mma_sync.places_from_stages);
        t.numbers += s.finish();
    }
    {
        Section s(root, origin, "instructions.tcgen05");
        s.read("before", t.instructions.tcgen05.before);
        s.read("before_copies", t.instructions.tcgen05.before_copies);
        s.read("stage", t.instructions.tcgen05.stage);
        s.read("stage_copies", t.instructions.tcgen05.stage_copies);
        s.read("stage_over", t.instructions.tcgen05.stage_over);
        s.read("trip", t.instructions.tcgen05.trip);
        s.read("trip_copies", t.instructions.tcgen05.trip_copies);
        t.numbers += s.finish();
    }
    {
        Section s(root, origin, "instructions.known_strides");
        s.read("before", t.instructions.known_strides.before);
        s.read("before_copies", t.instructions.known_strides.before_copies);
        s.read("before_outputs_over", t.instructions.known_strides.before_outputs_over);
        s.read("stage", t.instructions.known_strides.stage);
        s.read("trip", t.instructions.known_strides.trip);
        s.read("trip_copies", t.instructions.known_strides.trip_copies);
        s.read("trip_over", t.instructions.known_strides.trip_over);
        t.numbers += s.finish();
    }
}

void read_single_stage(const toml::table& root, std::string_view origin, Triton& t) {
    {
        Section s(root, origin, "single_stage");
        s.read("together", t.single_stage.together);
        s.read("part_of_b", t.single_stage.part_of_b);
        t.numbers += s.finish();
    }
}

void read_descriptor(const toml::table& root, std::string_view origin, Triton& t) {
    {
        Section s(root, origin, "descriptor");
        s.read("loop_slots", t.descriptor.loop_slots);
        s.read("before", t.descriptor.before);
        s.read("chain_before", t.descriptor.chain_before);
        t.numbers += s.finish();
    }
}

void read_gathers(const toml::table& root, std::string_view origin, Triton& t) {
    {
        Section s(root, origin, "gathers");
        s.read("registers_max", t.gathers.registers_max);
        t.numbers += s.finish();
    }
    {
        Section s(root, origin, "gathers.uniform");
        s.read("rows_max", t.gathers.uniform.rows_max);
        s.read("copied_cta_k", t.gathers.uniform.copied_cta_k);
        s.read("copied_cta_n_max", t.gathers.uniform.copied_cta_n_max);
        s.read("copied_cta_m_max", t.gathers.uniform.copied_cta_m_max);
        s.read("narrow_columns", t.gathers.uniform.narrow_columns);
        s.read("narrow_warps", t.gathers.uniform.narrow_warps);
        s.read("narrow_rows", t.gathers.uniform.narrow_rows);
        s.read("square", t.gathers.uniform.square);
        s.read("square_k", t.gathers.uniform.square_k);
        t.numbers += s.finish();
    }
    {
        Section s(root, origin, "gathers.registers.mma_sync");
        read_law(s, t.gathers.registers.mma_sync);
        t.numbers += s.finish();
    }
    {
        Section s(root, origin, "gathers.registers.uniform");
        read_law(s, t.gathers.registers.uniform);
        t.numbers += s.finish();
    }
    {
        Section s(root, origin, "gathers.registers.b_alone");
        s.read("warps", t.gathers.registers.b_alone_warps);
        read_law(s, t.gathers.registers.b_alone);
        t.numbers += s.finish();
    }
    {
        Section s(root, origin, "gathers.registers.wgmma");
        read_law(s, t.gathers.registers.wgmma);
        t.numbers += s.finish();
    }
    {
        Section s(root, origin, "gathers.registers.in_all");
        read_law(s, t.gathers.registers.in_all);
        t.numbers += s.finish();
    }
    {
        Section s(root, origin, "gathers.room");
        s.read("granule", t.gathers.room.granule);
        s.read("wanted", t.gathers.room.wanted);
        s.read("fewer", t.gathers.room.fewer);
        t.numbers += s.finish();
    }
    {
        Section s(root, origin, "gathers.spills");
        s.read("registers_found", t.gathers.spills.registers_found);
        s.read("loads_of_word", t.gathers.spills.loads_of_word);
        s.read("loads_spared", t.gathers.spills.loads_spared);
        s.read("loads_at_once", t.gathers.spills.loads_at_once);
        s.read("loads_at_once_beside_copies", t.gathers.spills.loads_at_once_beside_copies);
        s.read("rounds_that_wait_for_b", t.gathers.spills.rounds_that_wait_for_b);
        t.numbers += s.finish();
    }
    {
        Section s(root, origin, "gathers.given_up");
        s.read("registers", t.gathers.given_up.registers);
        s.read("pointer", t.gathers.given_up.pointer);
        s.read("words_of_element", t.gathers.given_up.words_of_element);
        s.read("loads_of_word", t.gathers.given_up.loads_of_word);
        s.read("stores_of_word", t.gathers.given_up.stores_of_word);
        s.read("loads_at_once", t.gathers.given_up.loads_at_once);
        t.numbers += s.finish();
    }
    {
        Section s(root, origin, "gathers.instructions");
        s.read("before", t.gathers.instructions.before);
        s.read("before_element", t.gathers.instructions.before_element);
        s.read("before_copies", t.gathers.instructions.before_copies);
        s.read("stage", t.gathers.instructions.stage);
        s.read("stage_copies", t.gathers.instructions.stage_copies);
        s.read("trip_element", t.gathers.instructions.trip_element);
        s.read("trip_element_over", t.gathers.instructions.trip_element_over);
        s.read("trip_beside_copies", t.gathers.instructions.trip_beside_copies);
        s.read("trip_copies", t.gathers.instructions.trip_copies);
        s.read("after", t.gathers.instructions.after);
        s.read("after_narrow_output", t.gathers.instructions.after_narrow_output);
        s.read("after_outputs_over", t.gathers.instructions.after_outputs_over);
        t.numbers += s.finish();
    }
}

void read_turning(const toml::table& root, std::string_view origin, Triton& t) {
    {
        Section s(root, origin, "turning");
        s.read("lane_bytes", t.turning.lane_bytes);
        s.read("instructions_of_bytes", t.turning.instructions_of_bytes);
        s.read("instructions_of_bytes_over", t.turning.instructions_of_bytes_over);
        t.numbers += s.finish();
    }
}

}  // namespace

Triton read_triton(std::string_view text, std::string_view origin) {
    const toml::table root = hw::parse_toml(text, origin);
    Triton t;
    read_alignment(root, origin, t);
    read_pipeline(root, origin, t);
    read_registers(root, origin, t);
    read_tensor_memory(root, origin, t);
    read_series(root, origin, t);
    read_weights(root, origin, t);
    read_instructions(root, origin, t);
    read_single_stage(root, origin, t);
    read_descriptor(root, origin, t);
    read_gathers(root, origin, t);
    read_turning(root, origin, t);
    return t;
}

const Triton& triton() {
    static const Triton read = [] {
        constexpr std::string_view version = "triton-3.6.toml";
        for (const hw::EmbeddedFile& file : embedded_compilers()) {
            if (file.name.ends_with(version)) return read_triton(file.content, file.name);
        }
        throw Error("compilers", std::string(version), "a file that is embedded");
    }();
    return read;
}

}  // namespace warptime::workloads::compilers
