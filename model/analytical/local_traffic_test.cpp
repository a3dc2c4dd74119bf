// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/local_traffic.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

using namespace warptime::model;
using namespace warptime::model::analytical;

TEST_CASE("stores to local memory hold the path to the L1 as long as the port takes, longer on all SMs") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    kernel::Op store;
    store.cls = kernel::InstructionClass::st_local;
    const double few = local_store_cycles(store, 128.0, 33, gpu).value();
    CHECK(few == doctest::Approx(128.0 / gpu.l2.write_bandwidth.value()));
    // Seven cycles were recorded where all SMs store.
    const double all = local_store_cycles(store, 128.0, 132, gpu).value();
    CHECK(all == doctest::Approx(7.0).epsilon(0.1));
    CHECK(local_store_cycles(store, 128.0, 1320, gpu).value() == all);
    store.cls = kernel::InstructionClass::st_global;
    CHECK(local_store_cycles(store, 128.0, 132, gpu).value() == 0.0);
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
