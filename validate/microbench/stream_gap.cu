// How long after one kernel does the next begin, in a stream, a graph and with programmatic dependent launch?
// A chain has kernels of fixed work. The time of a kernel, from chains of 8 and 40, is its duration and the
// gap. With short kernels the stream waits for the host. host_launch is the cost of one launch call to the
// calling thread. between is stream, graph, pdl or graph_pdl. With pdl the next kernel may start once all
// CTAs have asked for it, at their first instruction. After `early` rounds of its own work, that kernel waits
// for the end of the kernel before.
// SPDX-License-Identifier: Apache-2.0
#include "fixed_work.cuh"

namespace {

constexpr unsigned out_mask = (1U << 20) - 1;

__global__ void __launch_bounds__(1024) overlapped_work(int early, int rounds, float* out, unsigned mask) {
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    float x = probe::fma_chain(probe::fma_chain_start(threadIdx.x), early);
    asm volatile("griddepcontrol.wait;" ::: "memory");
    x = probe::fma_chain(x, rounds - early);
    out[(blockIdx.x * blockDim.x + threadIdx.x) & mask] = x;
}

struct Shape {
    int ctas, threads, shared, rounds, early;
    std::string between;
    [[nodiscard]] bool dependent() const { return between == "pdl" || between == "graph_pdl"; }
    [[nodiscard]] bool graph() const { return between == "graph" || between == "graph_pdl"; }
};

void launch_one(const Shape& shape, cudaStream_t stream, float* out) {
    cudaLaunchConfig_t configuration{};
    configuration.gridDim = dim3(static_cast<unsigned>(shape.ctas));
    configuration.blockDim = dim3(static_cast<unsigned>(shape.threads));
    configuration.dynamicSmemBytes = static_cast<std::size_t>(shape.shared);
    configuration.stream = stream;
    cudaLaunchAttribute attribute{};
    if (shape.dependent()) {
        attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attribute.val.programmaticStreamSerializationAllowed = 1;
        configuration.attrs = &attribute;
        configuration.numAttrs = 1;
        PROBE_CHECK(
            cudaLaunchKernelEx(&configuration, overlapped_work, shape.early, shape.rounds, out, out_mask));
    } else {
        PROBE_CHECK(cudaLaunchKernelEx(&configuration, probe::fixed_work, shape.rounds, out, out_mask));
    }
}

class Chain {
  public:
    Chain(const Shape& shape, int kernels, float* out) : shape_(shape), kernels_(kernels), out_(out) {
        PROBE_CHECK(cudaStreamCreate(&stream_));
        PROBE_CHECK(cudaEventCreate(&first_));
        PROBE_CHECK(cudaEventCreate(&second_));
        if (!shape.graph()) return;
        cudaGraph_t graph;
        PROBE_CHECK(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
        for (int i = 0; i < kernels; ++i) launch_one(shape, stream_, out);
        PROBE_CHECK(cudaStreamEndCapture(stream_, &graph));
        PROBE_CHECK(cudaGraphInstantiate(&executable_, graph, 0));
        PROBE_CHECK(cudaGraphDestroy(graph));
    }
    ~Chain() {
        if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
        cudaEventDestroy(first_);
        cudaEventDestroy(second_);
        cudaStreamDestroy(stream_);
    }
    Chain(const Chain&) = delete;
    Chain& operator=(const Chain&) = delete;

    /// Microseconds between events around the chain. The first launch is queued behind work that hides the
    /// host.
    [[nodiscard]] double us() {
        launch_one({probe::device().sms, 128, 0, 4000, 0, "stream"}, stream_, out_);
        PROBE_CHECK(cudaEventRecord(first_, stream_));
        if (shape_.graph()) {
            PROBE_CHECK(cudaGraphLaunch(executable_, stream_));
        } else {
            for (int i = 0; i < kernels_; ++i) launch_one(shape_, stream_, out_);
        }
        PROBE_CHECK(cudaEventRecord(second_, stream_));
        PROBE_CHECK(cudaStreamSynchronize(stream_));
        float milliseconds = 0.0F;
        PROBE_CHECK(cudaEventElapsedTime(&milliseconds, first_, second_));
        return static_cast<double>(milliseconds) * 1e3;
    }

  private:
    Shape shape_;
    int kernels_;
    float* out_;
    cudaStream_t stream_ = nullptr;
    cudaEvent_t first_ = nullptr;
    cudaEvent_t second_ = nullptr;
    cudaGraphExec_t executable_ = nullptr;
};

probe::Params shape_params(const Shape& shape) {
    probe::Params params;
    return params.set("ctas", shape.ctas)
        .set("threads", shape.threads)
        .set("shared", shape.shared)
        .set("fma", shape.rounds * probe::chain_length)
        .set("early_fma", shape.early * probe::chain_length)
        .set("between", shape.between);
}

/// span_us is the time that a kernel adds to a chain. The host can run ahead by 40 launches.
void chain_case(probe::Buffer<float>& out, const Shape& shape) {
    const probe::Params params = shape_params(shape);
    if (!probe::wanted("kernel_chain", params)) return;
    constexpr int few = 8;
    constexpr int many = 40;
    out.zero();
    Chain small(shape, few, out.data());
    Chain large(shape, many, out.data());
    std::vector<double> found;
    for (int turn = 0; turn < 12; ++turn) {
        const double difference = large.us() - small.us();
        if (turn > 0) found.push_back(difference / (many - few));
        probe::pause_ms(0.5);
    }
    probe::require_chain(out, shape.threads, shape.rounds, "kernel_chain " + params.text());
    probe::Conditions with;
    with.method = "chain_difference";
    probe::row("kernel_chain", params, "span_us", "us", found, with);
}

/// Time of the call itself, in a stream kept busy, so that the device never answers meanwhile.
void host_case(probe::Buffer<float>& out, int ctas, bool graph, int kernels) {
    probe::Params params;
    params.set("ctas", ctas).set("between", graph ? "graph" : "stream").set("kernels", kernels);
    if (!probe::wanted("host_launch", params)) return;
    const Shape shape{ctas, 128, 0, 1, 0, "stream"};
    cudaStream_t stream;
    PROBE_CHECK(cudaStreamCreate(&stream));
    cudaGraph_t captured;
    cudaGraphExec_t executable;
    PROBE_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < kernels; ++i) launch_one(shape, stream, out.data());
    PROBE_CHECK(cudaStreamEndCapture(stream, &captured));
    PROBE_CHECK(cudaGraphInstantiate(&executable, captured, 0));
    std::vector<double> found;
    for (int turn = 0; turn < 21; ++turn) {
        launch_one({probe::device().sms, 128, 0, 20000, 0, "stream"}, stream, out.data());
        const auto begin = std::chrono::steady_clock::now();
        if (graph) {
            PROBE_CHECK(cudaGraphLaunch(executable, stream));
        } else {
            for (int i = 0; i < kernels; ++i) launch_one(shape, stream, out.data());
        }
        const auto end = std::chrono::steady_clock::now();
        PROBE_CHECK(cudaStreamSynchronize(stream));
        if (turn > 0) found.push_back(std::chrono::duration<double, std::micro>(end - begin).count());
    }
    PROBE_CHECK(cudaGraphExecDestroy(executable));
    PROBE_CHECK(cudaGraphDestroy(captured));
    PROBE_CHECK(cudaStreamDestroy(stream));
    probe::Conditions with;
    with.method = "steady_clock";
    probe::row("host_launch", params, "host_us", "us", found, with);
}

}  // namespace

int main() {
    probe::begin("stream_gap");
    probe::activity::stop();
    probe::Buffer<float> out(out_mask + 1);
    PROBE_CHECK(
        cudaFuncSetAttribute(probe::fixed_work, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024));
    PROBE_CHECK(
        cudaFuncSetAttribute(overlapped_work, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024));
    const int sms = probe::device().sms;
    for (const int rounds : {1, 30, 100, 300}) {
        for (const int ctas : {1, sms, 8 * sms}) {
            for (const int threads : {128, 512}) {
                for (const int shared : {0, 200 * 1024}) {
                    if (threads == 512 && shared > 0) continue;
                    for (const char* between : {"stream", "graph"}) {
                        chain_case(out, {ctas, threads, shared, rounds, 0, between});
                    }
                    for (const char* between : {"pdl", "graph_pdl"}) {
                        chain_case(out, {ctas, threads, shared, rounds, 0, between});
                        if (rounds >= 30)
                            chain_case(out, {ctas, threads, shared, rounds, rounds / 2, between});
                    }
                }
            }
        }
    }
    for (const int kernels : {1, 2, 4, 8, 16, 32, 64, 128}) {
        for (const int ctas : {1, sms}) {
            host_case(out, ctas, false, kernels);
            host_case(out, ctas, true, kernels);
        }
    }
    return 0;
}
