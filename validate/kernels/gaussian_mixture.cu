// Fits by expectation: responsibilities of Gaussians for points with exponentials and logarithms, their sums
// in registers and shared memory in a fixed order; and gradients of a logistic regression, rows and columns.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr unsigned all_lanes = 0xffffffffU;
constexpr int threads = 256;

/// A Gaussian without correlations: log of weight and norm, means and inverse variances.
template <int dimensions>
struct Component {
    float log_norm, means[dimensions], inverses[dimensions];

    __host__ __device__ float log_density(const float* point) const {
        float sum = 0.0F;
#pragma unroll
        for (int k = 0; k < dimensions; ++k) {
            const float difference = point[k] - means[k];
            sum += difference * difference * inverses[k];
        }
        return log_norm - 0.5F * sum;
    }
};

/// Points by dimensions: coordinate k of all points lies together.
template <int dimensions>
__device__ void load(const float* points, int count, int i, float (&point)[dimensions]) {
#pragma unroll
    for (int k = 0; k < dimensions; ++k) point[k] = points[k * count + i];
}

/// Two passes over the components in global memory; responsibilities are written.
template <int dimensions, int components>
__global__ void expect_twice(const float* points, const Component<dimensions>* model, float* shares,
                             float* logs, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i >= count) return;
    float point[dimensions];
    load(points, count, i, point);
    float largest = -3.0e38F;
    for (int c = 0; c < components; ++c) largest = fmaxf(largest, model[c].log_density(point));
    float sum = 0.0F;
    for (int c = 0; c < components; ++c) sum += expf(model[c].log_density(point) - largest);
    const float log_sum = largest + logf(sum);
    for (int c = 0; c < components; ++c) shares[c * count + i] = expf(model[c].log_density(point) - log_sum);
    logs[i] = log_sum;
}

/// Densities stay in registers; components come from shared memory.
template <int dimensions, int components>
__global__ void expect_once(const float* points, const Component<dimensions>* model, float* shares,
                            float* logs, int count) {
    __shared__ Component<dimensions> copy[components];
    constexpr int words = sizeof(copy) / 4;
    for (int k = threadIdx.x; k < words; k += threads) {
        reinterpret_cast<float*>(copy)[k] = reinterpret_cast<const float*>(model)[k];
    }
    __syncthreads();
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i >= count) return;
    float point[dimensions], densities[components];
    load(points, count, i, point);
    float largest = -3.0e38F;
#pragma unroll
    for (int c = 0; c < components; ++c) {
        densities[c] = copy[c].log_density(point);
        largest = fmaxf(largest, densities[c]);
    }
    float sum = 0.0F;
#pragma unroll
    for (int c = 0; c < components; ++c) {
        densities[c] = __expf(densities[c] - largest);
        sum += densities[c];
    }
    const float scale = 1.0F / sum;
#pragma unroll
    for (int c = 0; c < components; ++c) shares[c * count + i] = densities[c] * scale;
    logs[i] = largest + __logf(sum);
}

__device__ float over_block(float value) {
    __shared__ float parts[threads / 32];
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(all_lanes, value, distance);
    __syncthreads();
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    float sum = 0.0F;
#pragma unroll
    for (int k = 0; k < threads / 32; ++k) sum += parts[k];
    return sum;
}

/// Sums of a component's shares, points and squares over a part of the points: blockIdx.y names the
/// component.
template <int dimensions>
__global__ void sum_parts(const float* points, const float* shares, float* sums, int count, int part) {
    const int component = blockIdx.y, end = min(count, (static_cast<int>(blockIdx.x) + 1) * part);
    float total = 0.0F, first[dimensions] = {}, second[dimensions] = {};
    for (int i = blockIdx.x * part + threadIdx.x; i < end; i += threads) {
        const float share = shares[component * count + i];
        total += share;
#pragma unroll
        for (int k = 0; k < dimensions; ++k) {
            const float value = points[k * count + i];
            first[k] += share * value;
            second[k] += share * value * value;
        }
    }
    float* to = sums + (component * gridDim.x + blockIdx.x) * (2 * dimensions + 1);
    const auto put = [&](int at, float value) {
        const float sum = over_block(value);
        if (threadIdx.x == 0) to[at] = sum;
    };
    put(0, total);
#pragma unroll
    for (int k = 0; k < dimensions; ++k) {
        put(1 + k, first[k]);
        put(1 + dimensions + k, second[k]);
    }
}

/// A warp a component: parts become weights, means and inverse variances.
template <int dimensions>
__global__ void maximize(const float* sums, Component<dimensions>* model, int parts, int count) {
    constexpr int figures = 2 * dimensions + 1;
    const float* from = sums + blockIdx.x * parts * figures;
    float totals[figures] = {};
    for (int part = threadIdx.x; part < parts; part += 32) {
#pragma unroll
        for (int k = 0; k < figures; ++k) totals[k] += from[part * figures + k];
    }
#pragma unroll
    for (int k = 0; k < figures; ++k) {
        for (int distance = 16; distance > 0; distance /= 2) {
            totals[k] += __shfl_xor_sync(all_lanes, totals[k], distance);
        }
    }
    if (threadIdx.x != 0) return;
    Component<dimensions> made;
    made.log_norm = logf(totals[0] / count) - 0.918938533F * dimensions;
#pragma unroll
    for (int k = 0; k < dimensions; ++k) {
        made.means[k] = totals[1 + k] / totals[0];
        made.inverses[k] = 1.0F / (totals[1 + dimensions + k] / totals[0] - made.means[k] * made.means[k]);
        made.log_norm += 0.5F * logf(made.inverses[k]);
    }
    model[blockIdx.x] = made;
}

template <int dimensions, int components>
void mixture(int count, int parts) {
    const auto numbers = random_values<float>(static_cast<std::size_t>(count) * dimensions, 1);
    std::vector<float> points(numbers.size());
    std::vector<float> means(components * dimensions);
    for (std::size_t i = 0; i < means.size(); ++i) means[i] = 2.0F * random_float(2, i);
    for (int i = 0; i < count; ++i) {
        const int c = static_cast<int>(random_bits(3, i) % components);
        for (int k = 0; k < dimensions; ++k)
            points[k * count + i] = means[c * dimensions + k] + numbers[k * count + i];
    }
    std::vector<float> start(components * (2 * dimensions + 1));
    for (int c = 0; c < components; ++c) {
        float* one = &start[c * (2 * dimensions + 1)];
        one[0] = -std::log(static_cast<float>(components)) - 0.918938533F * dimensions;
        for (int k = 0; k < dimensions; ++k) {
            one[1 + k] = means[c * dimensions + k] + 0.2F;
            one[1 + dimensions + k] = 1.0F;
        }
    }
    const Array<float> point_array(points);
    Array<float> model(start), shares(static_cast<std::size_t>(components) * count), logs(count);
    Array<float> sums(static_cast<std::size_t>(components) * parts * (2 * dimensions + 1));
    auto* const as_model = reinterpret_cast<Component<dimensions>*>(model.data());
    const auto* const first = reinterpret_cast<const Component<dimensions>*>(start.data());
    std::vector<double> expected(components * static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
        float point[dimensions];
        for (int k = 0; k < dimensions; ++k) point[k] = points[k * count + i];
        double sum = 0;
        for (int c = 0; c < components; ++c)
            sum += std::exp(static_cast<double>(first[c].log_density(point)));
        for (int c = 0; c < components; ++c) {
            expected[c * static_cast<std::size_t>(count) + i] =
                std::exp(static_cast<double>(first[c].log_density(point))) / sum;
        }
    }
    const int blocks = (count + threads - 1) / threads;
    const std::string name = std::to_string(dimensions) + "_" + std::to_string(components);
    prepare();
    expect_twice<dimensions, components>
        <<<blocks, threads>>>(point_array.data(), as_model, shares.data(), logs.data(), count);
    finish("twice");
    check_close(shares.values(), expected, 1e-4, "twice");
    shares.zero();
    prepare();
    expect_once<dimensions, components>
        <<<blocks, threads>>>(point_array.data(), as_model, shares.data(), logs.data(), count);
    finish("once");
    check_close(shares.values(), expected, 1e-4, "once");
    output(("logs_" + name).c_str(), logs);
    prepare();
    sum_parts<dimensions><<<dim3(parts, components), threads>>>(
        point_array.data(), shares.data(), sums.data(), count, (count + parts - 1) / parts);
    finish("sums");
    prepare();
    maximize<dimensions><<<components, 32>>>(sums.data(), as_model, parts, count);
    finish("maximize");
    const auto made = model.values();
    for (int c = 0; c < components; ++c) {
        double total = 0, mean = 0;
        for (int i = 0; i < count; ++i) {
            total += expected[c * static_cast<std::size_t>(count) + i];
            mean += expected[c * static_cast<std::size_t>(count) + i] * points[i];
        }
        check(std::fabs(made[c * (2 * dimensions + 1) + 1] - mean / total) < 1e-3, "maximize");
    }
    output(("model_" + name).c_str(), made);
}

/// A warp a row: its product with the weights, then the row's error.
__global__ void row_errors(const float4* rows, const float4* weights, const float* labels, float* errors,
                           int count, int quads) {
    const int i = (blockIdx.x * threads + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i >= count) return;
    float sum = 0.0F;
    for (int k = lane; k < quads; k += 32) {
        const float4 a = rows[static_cast<std::size_t>(i) * quads + k], b = weights[k];
        sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(all_lanes, sum, distance);
    if (lane == 0) errors[i] = 1.0F / (1.0F + __expf(-sum)) - labels[i];
}

/// A thread a column of a part of the rows.
__global__ void gradient_parts(const float* rows, const float* errors, float* parts, int count, int columns,
                               int part) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns) return;
    float sum = 0.0F;
    const int end = min(count, (static_cast<int>(blockIdx.y) + 1) * part);
    for (int i = blockIdx.y * part; i < end; ++i)
        sum += errors[i] * rows[static_cast<std::size_t>(i) * columns + column];
    parts[blockIdx.y * columns + column] = sum;
}

__global__ void descend(const float* parts, float* weights, int columns, int part_count, float rate) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns) return;
    float sum = 0.0F;
    for (int part = 0; part < part_count; ++part) sum += parts[part * columns + column];
    weights[column] -= rate * sum;
}

void regression(int count, int columns, int parts) {
    const auto rows = random_values<float>(static_cast<std::size_t>(count) * columns, 5);
    const auto start = random_values<float>(columns, 6);
    std::vector<float> labels(count);
    std::vector<double> expected(start.begin(), start.end());
    for (int i = 0; i < count; ++i) {
        labels[i] = static_cast<float>(random_bits(7, i) & 1U);
        double sum = 0;
        for (int k = 0; k < columns; ++k)
            sum += static_cast<double>(rows[static_cast<std::size_t>(i) * columns + k]) * start[k];
        const double error = 1.0 / (1.0 + std::exp(-sum)) - labels[i];
        for (int k = 0; k < columns; ++k)
            expected[k] -= error * rows[static_cast<std::size_t>(i) * columns + k] / count;
    }
    const Array<float> row_array(rows), label_array(labels);
    Array<float> weights(start), errors(count), part_array(static_cast<std::size_t>(parts) * columns);
    prepare();
    row_errors<<<(count * 32 + threads - 1) / threads, threads>>>(
        reinterpret_cast<const float4*>(row_array.data()), reinterpret_cast<const float4*>(weights.data()),
        label_array.data(), errors.data(), count, columns / 4);
    finish("errors");
    prepare();
    gradient_parts<<<dim3((columns + 127) / 128, parts), 128>>>(
        row_array.data(), errors.data(), part_array.data(), count, columns, (count + parts - 1) / parts);
    finish("parts");
    prepare();
    descend<<<(columns + 63) / 64, 64>>>(part_array.data(), weights.data(), columns, parts, 1.0F / count);
    finish("descend");
    check_close(weights.values(), expected, 1e-4, "regression");
    output(("weights_" + std::to_string(columns)).c_str(), weights);
}

void body() {
    mixture<2, 8>(1 << 19, 64);
    mixture<4, 16>(1 << 17, 32);
    mixture<3, 8>(1 << 14, 8);
    regression(16384, 512, 64);
    regression(65536, 64, 256);
}

int main() {
    return run(body);
}
