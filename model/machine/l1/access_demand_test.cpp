// What an access asks of each unit: whole lines, parts of sectors, lanes apart.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l1/access_demand.hpp"

#include "hw/sheet.hpp"
#include "model/kernel/text.hpp"

#include <doctest/doctest.h>

#include <string>

namespace warptime::model::machine {

namespace {

const hw::Gpu& gpu() {
    static const hw::Gpu loaded = hw::load_gpu("h200-sxm");
    return loaded;
}

AccessDemand demand_of(const std::string& op, const std::string& access, double active = 1.0) {
    const kernel::Kernel kernel =
        kernel::parse_text("kernel \"k\"\n  buffer \"b\" extent=1048576\n  role \"r\" warps=1\n    op 0 " +
                           op + "\n      access " + access + "\n  end\nend\n");
    const AccessBytes bytes = access_bytes(kernel, kernel.accesses[0]);
    return access_demand(kernel, kernel.ops[0], kernel.accesses[0], bytes, bytes, pieces_of(gpu()), gpu(),
                         active);
}

}  // namespace

TEST_CASE("a warp's words side by side are one line, received and opened once") {
    const AccessDemand d = demand_of("ld_global", "read b contiguous origin={0} bytes=4");
    CHECK(d.touch.lines == 1.0);
    CHECK(d.moved == 128.0);
    CHECK(d.asked == 128.0);
    CHECK(d.opened == doctest::Approx(128.0).epsilon(1e-3));
    CHECK(d.sent == 0.0);
}

TEST_CASE("lanes a line apart receive a sector each, and open a piece of DRAM each") {
    const AccessDemand d = demand_of("ld_global", "read b stride origin={0} bytes=4 inner=32");
    CHECK(d.touch.lines == 32.0);
    CHECK(d.moved == 32.0 * 32.0);
    CHECK(d.opened == 32.0 * gpu().dram.access_bytes.value());
}

TEST_CASE("a sector that is stored in part is sent twice, a whole one once") {
    const AccessDemand whole = demand_of("st_global", "write b contiguous origin={0} bytes=4");
    CHECK(whole.sent == 128.0);
    const AccessDemand part = demand_of("st_global", "write b stride origin={0} bytes=4 inner=32");
    CHECK(part.useful == 128.0);
    CHECK(part.sent == 2.0 * 32.0 * 32.0);
}

TEST_CASE("sectors that the kernel has read are read and written where a store changes a part of each") {
    // A field of 32 structures of 32 bytes: four sectors in each of eight lines.
    const std::string store = "write b stride origin={0} bytes=4 inner=8";
    CHECK(demand_of("st_global", store).sent == (32.0 + 8.0) * 32.0);
    const kernel::Kernel kernel = kernel::parse_text(
        "kernel \"k\"\n  buffer \"b\" extent=1048576\n  role \"r\" warps=1\n    op 0 st_global\n      "
        "access " +
        store + "\n    op 1 ld_global\n      access read b stride origin={4} bytes=4 inner=8\n  end\nend\n");
    const AccessBytes bytes = access_bytes(kernel, kernel.accesses[0]);
    const auto sent = [&](const kernel::Kernel& of) {
        return access_demand(of, of.ops[0], of.accesses[0], bytes, bytes, pieces_of(gpu()), gpu()).sent;
    };
    CHECK(sent(kernel) == 2.0 * 32.0 * 32.0);
    kernel::Kernel whole = kernel;
    whole.accesses[0].pattern = kernel::PatternKind::contiguous;  // whole sectors need no merging
    CHECK(sent(whole) == bytes.inside);
}

TEST_CASE("lines that miss take a cycle each, those that hit the passes over the banks") {
    LaneTouch touch;
    touch.lines = touch.sectors = 32.0;
    touch.passes = 1.0;
    CHECK(line_load_cycles(touch, 4.0, 0.0, gpu()) == 32.0);
    CHECK(line_load_cycles(touch, 4.0, 1.0, gpu()) == hit_cycles(touch, gpu()));
    // The bytes of 16-byte lanes take four passes, however few lines they are in.
    touch.lines = 1.0;
    CHECK(line_load_cycles(touch, 16.0, 0.0, gpu()) == 4.0);
}

TEST_CASE("lanes that are off touch nothing, but an execution touches one sector") {
    const std::string words = "read b contiguous origin={0} bytes=4";
    CHECK(demand_of("ld_global", words, 0.5).moved == 64.0);
    CHECK(demand_of("ld_global", words, 1.0 / 32.0).moved == 32.0);
    CHECK(demand_of("ld_global", words, 1.0 / 32.0).touch.lines == 1.0);
    CHECK(demand_of("ld_global", "read b stride origin={0} bytes=4 inner=32", 0.25).touch.lines == 8.0);
    // One word for all lanes is one word for one of them.
    const std::string one = "read b broadcast origin={0} bytes=4";
    CHECK(demand_of("ld_global", one, 1.0 / 32.0).moved == demand_of("ld_global", one).moved);
    // A lane's word is a part of its sector; a quarter of the lanes writes a whole one.
    const std::string stored = "write b contiguous origin={0} bytes=4";
    CHECK(demand_of("st_global", stored, 1.0 / 32.0).sent == 64.0);
    CHECK(demand_of("st_global", stored, 0.25).sent == 32.0);
}

TEST_CASE("loads pass the data path by banks or by missed lines, stores by their lines and once more") {
    LaneTouch touch;
    touch.lines = touch.sectors = 32.0;
    touch.passes = 4.0;
    CHECK(load_passes(touch, 4.0, 1.0, gpu()) == 4.0);
    CHECK(load_passes(touch, 4.0, 0.0, gpu()) == doctest::Approx(14.0));
    CHECK(load_passes(touch, 16.0, 1.0, gpu(), 0.5) == 4.0);
    touch.lines = touch.passes = 1.0;
    CHECK(load_passes(touch, 4.0, 0.0, gpu()) == 1.0);
    CHECK(load_passes(touch, 16.0, 0.0, gpu()) == 4.0);
    CHECK(store_passes(touch) == 2.0);
    touch.lines = 32.0;
    CHECK(store_passes(touch) == 33.0);
}

}  // namespace warptime::model::machine
