// Cycles of local stores, and their effect on a loop.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/local/local_traffic.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

using namespace warptime::model;
using namespace warptime::model::machine;

TEST_CASE("stores to local memory pass the L1 a line a cycle, and wait for the port where warps meet") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    CHECK(local_store_cycles(256.0, gpu).value() == 2.0);
    // Path and port together take the port's time, longer where all SMs store.
    const double few = (local_store_cycles(128.0, gpu) + held_by_local_stores(128.0, 1.0, gpu)).value();
    CHECK(few == doctest::Approx(128.0 / gpu.l2.write_bandwidth.value()));
    const double all =
        (local_store_cycles(128.0, gpu) + held_by_local_stores(128.0, store_slowdown(132, gpu), gpu)).value();
    CHECK(all == doctest::Approx(7.0).epsilon(0.1));
}

TEST_CASE("warps that do not find their local memory follow those that do, but not across a barrier") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    kernel::Kernel kernel;
    kernel::Buffer buffer;
    buffer.space = kernel::Space::local;
    buffer.dtype = kernel::Dtype::int32;
    buffer.extent[0] = 1500;
    kernel.buffers.push_back(buffer);
    kernel::Access access;
    access.buffer = 0;
    kernel.accesses.push_back(access);
    kernel::Op load;
    load.cls = kernel::InstructionClass::ld_local;
    load.access_count = 1;
    kernel.ops.push_back(load);
    LocalLoop local;
    CHECK(local.runs_ahead(kernel, load, 0.7, 4000.0));
    CHECK_FALSE(local.runs_ahead(kernel, load, 1.0, 6000.0));
    CHECK_FALSE(local.runs_ahead(kernel, load, 0.1, 2000.0));
    Part loop;
    loop.chain = warptime::hw::Cycles(100.0);
    local.wait(2.0);
    const auto latency = gpu.latency.l1 + warptime::hw::Cycles(150.0);
    local.leave(loop, false, latency, gpu);
    CHECK(loop.chain.value() == doctest::Approx(175.0));
    // Nothing is left for the next role.
    local.leave(loop, false, latency, gpu);
    CHECK(loop.chain.value() == doctest::Approx(175.0));
    kernel::Op meet;
    meet.cls = kernel::InstructionClass::bar_sync;
    kernel.ops.push_back(meet);
    CHECK_FALSE(local.runs_ahead(kernel, load, 0.7, 4000.0));
}

TEST_CASE("what a CTA keeps in local memory is nobody else's") {
    kernel::Kernel kernel;
    kernel::Buffer buffer;
    buffer.space = kernel::Space::local;
    buffer.dtype = kernel::Dtype::int32;
    buffer.extent[0] = 256;
    kernel.buffers.push_back(buffer);
    kernel::Access access;
    access.buffer = 0;
    BufferTraffic traffic;
    note_local_loads(kernel, access, traffic);
    CHECK(traffic.span_bytes == 1024.0);
    CHECK(traffic.along_m);
    CHECK(traffic.along_n);
    kernel.buffers[0].space = kernel::Space::global;
    BufferTraffic shared;
    note_local_loads(kernel, access, shared);
    CHECK(shared.span_bytes == 0.0);
    CHECK_FALSE(shared.along_m);
}

TEST_CASE("spilled words come behind elements from the L2, and from DRAM where it has no room for them") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    kernel::Kernel program;
    kernel::Buffer local;
    local.space = kernel::Space::local;
    local.dtype = kernel::Dtype::int32;
    local.extent[0] = 100 * 128;
    program.buffers.push_back(local);
    kernel::Access words;
    words.buffer = 0;
    program.accesses.push_back(words);
    kernel::Op op;
    op.access_count = 1;
    const warptime::hw::Cycles dram(700.0);
    CHECK(local_behind_elements(program, op, 1.0, 2, dram, gpu).value() == gpu.latency.l2_near.value());
    CHECK(local_behind_elements(program, op, 0.0, 2, dram, gpu).value() == gpu.latency.l2_far.value());
    program.buffers[0].extent[0] *= 10;
    CHECK(local_behind_elements(program, op, 0.0, 2, dram, gpu).value() == 700.0);
    CHECK(local_behind_elements(program, op, 1.0, 2, dram, gpu).value() == gpu.latency.l2_near.value());
}
