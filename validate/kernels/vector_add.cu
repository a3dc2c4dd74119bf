// Sum of two vectors: one element a thread, four a thread, and a grid-stride loop.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

__global__ void one_element(const float* a, const float* b, float* sum, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        sum[i] = a[i] + b[i];
    }
}

__global__ void four_elements(const float4* a, const float4* b, float4* sum, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        const float4 u = a[i], v = b[i];
        sum[i] = make_float4(u.x + v.x, u.y + v.y, u.z + v.z, u.w + v.w);
    }
}

__global__ void grid_stride(const float* a, const float* b, float* sum, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        sum[i] = a[i] + b[i];
    }
}

void body() {
    for (const int count : {1 << 20, (1 << 24) + 17}) {
        const auto x = random_values<float>(count, 1), y = random_values<float>(count, 2);
        const Array<float> a(x), b(y);
        std::vector<double> expected(count);
        for (int i = 0; i < count; ++i) {
            expected[i] = static_cast<double>(x[i] + y[i]);
        }
        Array<float> sum(count);
        const auto verify = [&](const char* what, int checked) {
            finish(what);
            check_close(sum.values(), {expected.begin(), expected.begin() + checked}, 1e-6, what);
            output(what, sum);
            sum.zero();
        };
        prepare();
        one_element<<<(count + 255) / 256, 256>>>(a.data(), b.data(), sum.data(), count);
        verify("one_element", count);
        prepare();
        four_elements<<<(count / 4 + 255) / 256, 256>>>(reinterpret_cast<const float4*>(a.data()),
                                                        reinterpret_cast<const float4*>(b.data()),
                                                        reinterpret_cast<float4*>(sum.data()), count / 4);
        verify("four_elements", count / 4 * 4);
        prepare();
        grid_stride<<<264, 512>>>(a.data(), b.data(), sum.data(), count);
        verify("grid_stride", count);
    }
}

int main() {
    return run(body);
}
