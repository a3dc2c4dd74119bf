// How long does a kernel take that does nothing, against its CTAs, threads, shared memory and waves?
// launch_kernel: the duration of one kernel, warm or after a flush.
// With `fma`, each thread first goes through that many dependent FMA, so that waves have a known length.
// launch_graph: the time a node of a graph of empty kernels, from the difference of graphs of 8 and 40 nodes.
// SPDX-License-Identifier: Apache-2.0
#include "fixed_work.cuh"

namespace {

constexpr unsigned out_mask = (1U << 20) - 1;

// Does nothing that the compiler could remove, and writes only if asked to.
__global__ void empty(int write, float* out) {
    if (write != 0) out[threadIdx.x] = 1.0F;
}

void kernel_case(probe::Flush& flush, probe::Buffer<float>& out, int grid, int threads, int shared,
                 int rounds, bool cold) {
    probe::Params params;
    params.set("ctas", grid)
        .set("threads", threads)
        .set("shared", shared)
        .set("fma", rounds * probe::chain_length);
    probe::Conditions with;
    with.cache = cold ? "flushed" : "warm";
    if (!probe::wanted("launch_kernel", params, with)) return;
    const auto launch = [&] {
        if (rounds > 0) {
            probe::fixed_work<<<grid, threads, shared>>>(rounds, out.data(), out_mask);
        } else {
            empty<<<grid, threads, shared>>>(0, out.data());
        }
    };
    PROBE_CHECK(cudaFuncSetAttribute(empty, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024));
    PROBE_CHECK(
        cudaFuncSetAttribute(probe::fixed_work, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024));
    const auto found = probe::time_kernel(
        11,
        [&] {
            if (cold) flush.dirty();
        },
        launch);
    with.method = found.method;
    with.steps = found.steps;
    probe::row("launch_kernel", params, "kernel_us", "us", found.us, with);
}

double graph_us(int nodes, int grid, int threads, int shared, probe::Buffer<float>& out,
                std::vector<double>& all) {
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaEvent_t first;
    cudaEvent_t second;
    PROBE_CHECK(cudaStreamCreate(&stream));
    PROBE_CHECK(cudaEventCreate(&first));
    PROBE_CHECK(cudaEventCreate(&second));
    PROBE_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < nodes; ++i) empty<<<grid, threads, shared, stream>>>(0, out.data());
    PROBE_CHECK(cudaStreamEndCapture(stream, &graph));
    PROBE_CHECK(cudaGraphInstantiate(&executable, graph, 0));
    for (int turn = 0; turn < 12; ++turn) {
        PROBE_CHECK(cudaEventRecord(first, stream));
        PROBE_CHECK(cudaGraphLaunch(executable, stream));
        PROBE_CHECK(cudaEventRecord(second, stream));
        PROBE_CHECK(cudaStreamSynchronize(stream));
        float milliseconds = 0.0F;
        PROBE_CHECK(cudaEventElapsedTime(&milliseconds, first, second));
        if (turn > 0) all.push_back(static_cast<double>(milliseconds) * 1e3);
    }
    PROBE_CHECK(cudaGraphExecDestroy(executable));
    PROBE_CHECK(cudaGraphDestroy(graph));
    PROBE_CHECK(cudaEventDestroy(first));
    PROBE_CHECK(cudaEventDestroy(second));
    PROBE_CHECK(cudaStreamDestroy(stream));
    return probe::median(all);
}

void graph_case(probe::Buffer<float>& out, int grid, int threads, int shared) {
    probe::Params params;
    params.set("ctas", grid).set("threads", threads).set("shared", shared);
    if (!probe::wanted("launch_graph", params)) return;
    std::vector<double> small;
    std::vector<double> large;
    const double base = graph_us(8, grid, threads, shared, out, small);
    (void)graph_us(40, grid, threads, shared, out, large);
    for (double& us : large) us = (us - base) / 32.0;
    probe::Conditions with;
    with.method = "graph_difference";
    probe::row("launch_graph", params, "kernel_us", "us", large, with);
}

}  // namespace

int main() {
    probe::begin("launch_floor");
    probe::Buffer<float> out(out_mask + 1);
    probe::Flush flush;
    const int sms = probe::device().sms;
    for (const bool cold : {false, true}) {
        for (const int grid : {1, sms / 2, sms, 2 * sms, 4 * sms, 8 * sms, 16 * sms, 32 * sms}) {
            for (const int threads : {32, 128, 256, 384, 512, 1024}) {
                for (const int shared : {0, 200 * 1024})
                    kernel_case(flush, out, grid, threads, shared, 0, cold);
            }
        }
        // Waves of known length: with 200 KB one CTA is resident on an SM, so waves = ctas / SMs.
        for (const int waves : {1, 2, 3, 4, 6, 8}) {
            for (const int threads : {128, 384}) {
                kernel_case(flush, out, waves * sms, threads, 200 * 1024, 60, cold);
                kernel_case(flush, out, waves * sms - sms / 2, threads, 200 * 1024, 60, cold);
            }
        }
    }
    // Time stamps for the activity records would lengthen the gaps between the nodes.
    probe::activity::stop();
    for (const int grid : {1, sms, 8 * sms}) {
        for (const int threads : {32, 128, 384, 1024}) {
            for (const int shared : {0, 200 * 1024}) graph_case(out, grid, threads, shared);
        }
    }
    return 0;
}
