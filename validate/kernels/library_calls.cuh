// Calls of device-wide algorithms (CUB, Thrust) whose kernels are recorded one by one.
// SPDX-License-Identifier: Apache-2.0
//
// A call launches several kernels. The recorder wants another buffer's dirty lines in the L2 before each, so
// under TEXTBOOK_FLUSH=1 the call is captured into a graph, and its nodes are launched alone, in their order.
#pragma once

#include "textbook.cuh"

#include <cub/cub.cuh>

namespace textbook {

inline void launch_node(cudaGraphNode_t node, cudaStream_t stream, const char* what) {
    cudaGraphNodeType type{};
    require(cudaGraphNodeGetType(node, &type), what);
    if (type == cudaGraphNodeTypeMemset) {
        cudaMemsetParams set{};
        require(cudaGraphMemsetNodeGetParams(node, &set), what);
        // One row of bytes: elements of four bytes are written alike by each of their bytes, which are zeros
        // or ones here.
        require(cudaMemsetAsync(set.dst, static_cast<int>(set.value & 255U),
                                set.width * set.elementSize * set.height, stream),
                what);
    } else if (type == cudaGraphNodeTypeKernel) {
        cudaKernelNodeParams kernel{};
        require(cudaGraphKernelNodeGetParams(node, &kernel), what);
        prepare();
        require(cudaLaunchKernel(kernel.func, kernel.gridDim, kernel.blockDim, kernel.kernelParams,
                                 kernel.sharedMemBytes, stream),
                what);
    } else {
        check(type == cudaGraphNodeTypeEmpty, what);
    }
    finish(what);
}

/// Calls `algorithm(stream)`, which launches kernels and waits for none of them.
template <class Algorithm>
void library_call(const char* what, Algorithm algorithm) {
    static cudaStream_t stream = [] {
        cudaStream_t made = nullptr;
        require(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), "stream");
        return made;
    }();
    // What filled the arrays ran in another stream.
    require(cudaDeviceSynchronize(), what);
    if (std::getenv("TEXTBOOK_FLUSH") == nullptr) {
        algorithm(stream);
        finish(what);
        return;
    }
    cudaGraph_t graph = nullptr;
    require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), what);
    algorithm(stream);
    require(cudaStreamEndCapture(stream, &graph), what);
    // The nodes form a chain, since one stream was captured.
    std::size_t count = 1;
    cudaGraphNode_t node = nullptr;
    require(cudaGraphGetRootNodes(graph, &node, &count), what);
    while (count == 1) {
        launch_node(node, stream, what);
        std::size_t next = 0;
        require(cudaGraphNodeGetDependentNodes(node, nullptr, nullptr, &next), what);
        check(next <= 1, what);
        // Kernels that may begin before the one in front has ended have edges with data.
        cudaGraphEdgeData edge{};
        if (next == 1) require(cudaGraphNodeGetDependentNodes(node, &node, &edge, &next), what);
        count = next;
    }
    require(cudaGraphDestroy(graph), what);
}

/// Calls `algorithm(temporary, bytes, stream)` twice, as CUB wants it: for the bytes it needs, and with them.
template <class Algorithm>
void with_temporary(const char* what, Algorithm algorithm) {
    std::size_t bytes = 0;
    require(algorithm(nullptr, bytes, cudaStream_t{}), what);
    const Array<char> temporary(std::max<std::size_t>(bytes, 1));
    library_call(what,
                 [&](cudaStream_t stream) { require(algorithm(temporary.data(), bytes, stream), what); });
}

}  // namespace textbook
