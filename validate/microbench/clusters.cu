// What does a cluster cost to launch, and how many clusters of a size fit on the chip at once?
// max_active_clusters: the runtime's answer, because no public header computes the number.
// cluster_launch: the duration of grids of clusters with little or fixed work.
// cluster_wave: fixed work. The numbers of clusters lie around the edges of the waves that the runtime's
// answer makes. Where `barrier` is 1, a barrier of the whole cluster ends each CTA.
// SPDX-License-Identifier: Apache-2.0
#include "fixed_work.cuh"

namespace {

constexpr unsigned out_mask = (1U << 20) - 1;

__global__ void __launch_bounds__(1024) cluster_work(int rounds, int barrier, float* out, unsigned mask) {
    const float result = probe::fma_chain(probe::fma_chain_start(threadIdx.x), rounds);
    out[(blockIdx.x * blockDim.x + threadIdx.x) & mask] = result;
    if (barrier != 0) {
        asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    }
}

/// A launch with clusters along x. The attribute array must outlive the configuration, so `Launch` holds
/// both.
struct Launch {
    Launch(int ctas, int threads, int shared, int cluster) {
        configuration.gridDim = dim3(static_cast<unsigned>(ctas));
        configuration.blockDim = dim3(static_cast<unsigned>(threads));
        configuration.dynamicSmemBytes = static_cast<std::size_t>(shared);
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim.x = static_cast<unsigned>(cluster);
        attribute.val.clusterDim.y = 1;
        attribute.val.clusterDim.z = 1;
        configuration.attrs = &attribute;
        configuration.numAttrs = 1;
    }
    Launch(const Launch&) = delete;
    Launch& operator=(const Launch&) = delete;
    cudaLaunchConfig_t configuration{};
    cudaLaunchAttribute attribute{};
};

int active_clusters(int threads, int shared, int cluster) {
    const Launch launch(cluster, threads, shared, cluster);
    int found = 0;
    if (cudaOccupancyMaxActiveClusters(&found, cluster_work, &launch.configuration) != cudaSuccess) {
        (void)cudaGetLastError();
        return 0;
    }
    return found;
}

probe::Params cluster_params(int threads, int shared, int cluster) {
    probe::Params params;
    return params.set("threads", threads).set("shared", shared).set("cluster", cluster);
}

void occupancy_case(int threads, int shared, int cluster) {
    const probe::Params params = cluster_params(threads, shared, cluster);
    if (!probe::wanted("max_active_clusters", params)) return;
    probe::Conditions with;
    with.method = "cudaOccupancyMaxActiveClusters";
    const int found = active_clusters(threads, shared, cluster);
    if (found == 0) return;
    probe::row("max_active_clusters", params, "clusters", "1", {static_cast<double>(found)}, with);
}

void time_case(const std::string& op, probe::Buffer<float>& out, int clusters, int threads, int shared,
               int cluster, int rounds, int barrier) {
    probe::Params params = cluster_params(threads, shared, cluster);
    params.set("clusters", clusters).set("fma", rounds * probe::chain_length).set("barrier", barrier);
    if (clusters < 1 || !probe::wanted(op, params)) return;
    const Launch launch(clusters * cluster, threads, shared, cluster);
    out.zero();
    const auto found = probe::time_kernel(
        7, [] {},
        [&] {
            PROBE_CHECK(cudaLaunchKernelEx(&launch.configuration, cluster_work, rounds, barrier, out.data(),
                                           out_mask));
        },
        0.2);
    probe::require_chain(out, threads, rounds, op + " " + params.text());
    probe::Conditions with;
    with.method = found.method;
    with.steps = found.steps;
    probe::row(op, params, "kernel_us", "us", found.us, with);
}

}  // namespace

int main() {
    probe::begin("clusters");
    probe::Buffer<float> out(out_mask + 1);
    PROBE_CHECK(cudaFuncSetAttribute(cluster_work, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024));
    PROBE_CHECK(cudaFuncSetAttribute(cluster_work, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    const int sms = probe::device().sms;
    const std::vector<int> sizes{1, 2, 3, 4, 6, 8, 12, 16};
    for (const int shared : {0, 48 * 1024, 100 * 1024, 200 * 1024}) {
        for (const int threads : {128, 384, 1024}) {
            for (const int cluster : sizes) occupancy_case(threads, shared, cluster);
        }
    }
    for (const int cluster : sizes) {
        for (const int threads : {128, 384}) {
            for (const int shared : {0, 200 * 1024}) {
                // One cluster, half the chip, one CTA an SM as far as clusters allow, and eight times that
                // number.
                const int full = std::max(1, sms / cluster);
                for (const int clusters : {1, std::max(1, full / 2), full, 8 * full}) {
                    for (const int barrier : {0, 1}) {
                        if (barrier == 1 && threads == 384) continue;
                        time_case("cluster_launch", out, clusters, threads, shared, cluster, 1, barrier);
                    }
                }
            }
        }
    }
    for (const int cluster : sizes) {
        const int active = active_clusters(128, 200 * 1024, cluster);
        for (const int waves : {1, 2, 3}) {
            for (const int extra : {-1, 0, 1}) {
                time_case("cluster_wave", out, waves * active + extra, 128, 200 * 1024, cluster, 150, 0);
            }
        }
    }
    return 0;
}
