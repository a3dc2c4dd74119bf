// Statistics of images: how often grey levels occur beside each other, by histograms in shared memory, joint
// histograms of two images and what one tells of the other, columns' means and variances, and summed areas.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

/// Pairs of levels (bins of 256 / levels grey values) of pixels and their neighbours at (dx, dy).
template <int levels>
__global__ void co_occurrence(const unsigned char* __restrict__ image, unsigned* matrix, int width,
                              int height, int dx, int dy) {
    __shared__ unsigned counts[levels * levels];
    for (int i = threadIdx.x; i < levels * levels; i += blockDim.x) counts[i] = 0;
    __syncthreads();
    for (int y = blockIdx.x; y < height - dy; y += gridDim.x) {
        const unsigned char* row = image + static_cast<size_t>(y) * width;
        const unsigned char* other = row + static_cast<size_t>(dy) * width + dx;
        for (int x = threadIdx.x; x < width - dx; x += blockDim.x) {
            const int a = row[x] * levels / 256, b = other[x] * levels / 256;
            atomicAdd(&counts[a * levels + b], 1U);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < levels * levels; i += blockDim.x)
        if (counts[i] != 0) atomicAdd(matrix + i, counts[i]);
}

/// Four pixels of both images a thread, counted in global memory.
__global__ void joint_histogram(const uchar4* a, const uchar4* b, unsigned* joint, int quads) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= quads) return;
    const uchar4 p = a[i], q = b[i];
    atomicAdd(joint + p.x * 256 + q.x, 1U);
    atomicAdd(joint + p.y * 256 + q.y, 1U);
    atomicAdd(joint + p.z * 256 + q.z, 1U);
    atomicAdd(joint + p.w * 256 + q.w, 1U);
}

/// One block of 1024 threads: sums of rows and columns first, then the sum over all cells.
__global__ void __launch_bounds__(1024)
    mutual_information(const unsigned* joint, double* result, double total) {
    __shared__ float row_sums[256], column_sums[256];
    __shared__ double parts[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int row = warp; row < 256; row += 32) {
        unsigned sum = 0;
        for (int c = lane; c < 256; c += 32) sum += joint[row * 256 + c];
        sum = __reduce_add_sync(0xffffffffU, sum);
        if (lane == 0) row_sums[row] = static_cast<float>(sum);
    }
    if (threadIdx.x < 256) {
        unsigned sum = 0;
        for (int row = 0; row < 256; ++row) sum += joint[row * 256 + threadIdx.x];
        column_sums[threadIdx.x] = static_cast<float>(sum);
    }
    __syncthreads();
    double information = 0.0;
    for (int i = threadIdx.x; i < 256 * 256; i += 1024) {
        const unsigned count = joint[i];
        if (count == 0) continue;
        const float expected = row_sums[i / 256] * column_sums[i % 256] / static_cast<float>(total);
        information += count * static_cast<double>(log2f(count / expected));
    }
    for (int step = 16; step > 0; step /= 2) information += __shfl_down_sync(0xffffffffU, information, step);
    if (lane == 0) parts[warp] = information;
    __syncthreads();
    if (warp == 0) {
        information = parts[lane];
        for (int step = 16; step > 0; step /= 2)
            information += __shfl_down_sync(0xffffffffU, information, step);
        if (lane == 0) *result = information / total;
    }
}

/// 32 columns a block by `slices` rows of threads: Welford's running means, merged through shared memory.
template <int slices>
__global__ void column_statistics(const float* __restrict__ values, float4* out, int rows, int columns) {
    __shared__ float means[slices][32], squares[slices][32], lows[slices][32], highs[slices][32];
    __shared__ int counts[slices][32];
    const int column = blockIdx.x * 32 + threadIdx.x, slice = threadIdx.y;
    float mean = 0.0F, square = 0.0F, low = 3e38F, high = -3e38F;
    int count = 0;
    if (column < columns) {
        for (int row = slice; row < rows; row += slices) {
            const float value = values[static_cast<size_t>(row) * columns + column];
            ++count;
            const float delta = value - mean;
            mean += delta / static_cast<float>(count);
            square += delta * (value - mean);
            low = fminf(low, value);
            high = fmaxf(high, value);
        }
    }
    means[slice][threadIdx.x] = mean;
    squares[slice][threadIdx.x] = square;
    lows[slice][threadIdx.x] = low;
    highs[slice][threadIdx.x] = high;
    counts[slice][threadIdx.x] = count;
    for (int step = slices / 2; step > 0; step /= 2) {
        __syncthreads();
        if (slice < step) {
            const int own = counts[slice][threadIdx.x], more = counts[slice + step][threadIdx.x];
            if (more > 0) {
                const float delta = means[slice + step][threadIdx.x] - means[slice][threadIdx.x];
                const float share = static_cast<float>(more) / static_cast<float>(own + more);
                means[slice][threadIdx.x] += delta * share;
                squares[slice][threadIdx.x] +=
                    squares[slice + step][threadIdx.x] + delta * delta * share * static_cast<float>(own);
                lows[slice][threadIdx.x] = fminf(lows[slice][threadIdx.x], lows[slice + step][threadIdx.x]);
                highs[slice][threadIdx.x] =
                    fmaxf(highs[slice][threadIdx.x], highs[slice + step][threadIdx.x]);
                counts[slice][threadIdx.x] = own + more;
            }
        }
    }
    if (slice == 0 && column < columns)
        out[column] = {lows[0][threadIdx.x], highs[0][threadIdx.x], means[0][threadIdx.x],
                       squares[0][threadIdx.x] / static_cast<float>(rows)};
}

/// Sums of each row up to each pixel, a warp a row.
__global__ void scan_rows(const unsigned char* image, unsigned* sums, int width, int height) {
    const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= height) return;
    image += static_cast<size_t>(row) * width;
    sums += static_cast<size_t>(row) * width;
    unsigned carried = 0;
    for (int first = 0; first < width; first += 32) {
        const int x = first + lane;
        unsigned sum = x < width ? image[x] : 0U;
        for (int step = 1; step < 32; step *= 2) {
            const unsigned before = __shfl_up_sync(0xffffffffU, sum, step);
            if (lane >= step) sum += before;
        }
        sum += carried;
        if (x < width) sums[x] = sum;
        carried = __shfl_sync(0xffffffffU, sum, 31);
    }
}

/// Then down each column, a thread a column.
__global__ void scan_columns(const unsigned* __restrict__ in, unsigned* __restrict__ out, int width,
                             int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= width) return;
    unsigned sum = 0;
    for (int y = 0; y < height; ++y) {
        sum += in[static_cast<size_t>(y) * width + x];
        out[static_cast<size_t>(y) * width + x] = sum;
    }
}

/// Slopes and waves of grey with some noise.
std::vector<unsigned char> picture(int width, int height, int seed, int noise) {
    std::vector<unsigned char> out(static_cast<size_t>(width) * height);
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            const size_t at = static_cast<size_t>(y) * width + x;
            const int wave =
                std::abs((x + 2 * y) % 600 - 300) / 2 + std::abs((3 * x - y + 40000) % 350 - 175) / 2;
            const int grey = wave + static_cast<int>(random_bits(seed, at) % (2 * noise + 1)) - noise;
            out[at] = static_cast<unsigned char>(std::clamp(grey, 0, 255));
        }
    return out;
}

template <int levels>
void neighbours(const char* name, const Array<unsigned char>& image, const std::vector<unsigned char>& values,
                int width, int height, int dx, int dy, int blocks, int threads) {
    Array<unsigned> matrix(levels * levels);
    prepare();
    co_occurrence<levels><<<blocks, threads>>>(image.data(), matrix.data(), width, height, dx, dy);
    finish("co-occurrence");
    std::vector<unsigned> expected(levels * levels);
    for (int y = 0; y < height - dy; ++y)
        for (int x = 0; x < width - dx; ++x) {
            const size_t at = static_cast<size_t>(y) * width + x;
            ++expected[values[at] * levels / 256 * levels +
                       values[at + static_cast<size_t>(dy) * width + dx] * levels / 256];
        }
    check(matrix.values() == expected, name);
    output(name, matrix);
}

void information(const Array<unsigned char>& a, const std::vector<unsigned char>& a_values,
                 const std::vector<unsigned char>& b_values) {
    const Array<unsigned char> b(b_values);
    const int quads = static_cast<int>(a_values.size() / 4);
    Array<unsigned> joint(256 * 256);
    prepare();
    joint_histogram<<<(quads + 127) / 128, 128>>>(reinterpret_cast<const uchar4*>(a.data()),
                                                  reinterpret_cast<const uchar4*>(b.data()), joint.data(),
                                                  quads);
    finish("joint histogram");
    std::vector<unsigned> counts(256 * 256);
    for (size_t i = 0; i < a_values.size(); ++i) ++counts[a_values[i] * 256 + b_values[i]];
    check(joint.values() == counts, "joint histogram");
    output("joint", joint);
    const Array<double> result(1);
    const double total = static_cast<double>(a_values.size());
    prepare();
    mutual_information<<<1, 1024>>>(joint.data(), result.data(), total);
    finish("mutual information");
    std::vector<double> rows(256), columns(256);
    for (int i = 0; i < 256 * 256; ++i) {
        rows[i / 256] += counts[i];
        columns[i % 256] += counts[i];
    }
    double expected = 0.0;
    for (int i = 0; i < 256 * 256; ++i)
        if (counts[i] != 0)
            expected += counts[i] / total * std::log2(counts[i] * total / (rows[i / 256] * columns[i % 256]));
    check_close(result.values(), {expected}, 1e-4, "mutual information");
    output("mutual_information", result);
}

template <int slices>
void statistics(const char* name, int rows, int columns) {
    auto values = random_values<float>(static_cast<size_t>(rows) * columns, 3);
    for (size_t i = 0; i < values.size(); ++i) values[i] += static_cast<float>(i % columns % 7);
    const Array<float> in(values), out(static_cast<size_t>(columns) * 4);
    prepare();
    column_statistics<slices><<<(columns + 31) / 32, dim3(32, slices)>>>(
        in.data(), reinterpret_cast<float4*>(out.data()), rows, columns);
    finish("column statistics");
    const auto got = out.values();
    for (int column = 0; column < columns; column += 13) {
        double low = 1e30, high = -1e30, sum = 0.0, square = 0.0;
        for (int row = 0; row < rows; ++row) {
            const double value = values[static_cast<size_t>(row) * columns + column];
            low = std::min(low, value);
            high = std::max(high, value);
            sum += value;
            square += value * value;
        }
        const double mean = sum / rows;
        const float* own = got.data() + static_cast<size_t>(column) * 4;
        check(own[0] == low && own[1] == high && std::fabs(own[2] - mean) < 1e-3 &&
                  std::fabs(own[3] - (square / rows - mean * mean)) < 1e-2,
              name);
    }
    output(name, out);
}

void summed_areas(const Array<unsigned char>& image, const std::vector<unsigned char>& values, int width,
                  int height) {
    const Array<unsigned> rows(values.size()), areas(values.size());
    prepare();
    scan_rows<<<(height + 2) / 3, 96>>>(image.data(), rows.data(), width, height);
    finish("rows");
    prepare();
    scan_columns<<<(width + 63) / 64, 64>>>(rows.data(), areas.data(), width, height);
    finish("columns");
    std::vector<unsigned> expected(values.size());
    for (int y = 0; y < height; ++y) {
        unsigned sum = 0;
        for (int x = 0; x < width; ++x) {
            const size_t at = static_cast<size_t>(y) * width + x;
            sum += values[at];
            expected[at] = sum + (y > 0 ? expected[at - width] : 0U);
        }
    }
    check(areas.values() == expected, "summed areas");
    output("summed_areas", areas);
}

void body() {
    constexpr int width = 3072, height = 2048;
    const auto values = picture(width, height, 1, 12), noisy = picture(width, height, 2, 60);
    const Array<unsigned char> image(values), noisy_image(noisy);
    neighbours<16>("levels_16_right", image, values, width, height, 1, 0, 132 * 4, 256);
    neighbours<16>("levels_16_below", noisy_image, noisy, width, height, 0, 1, 132 * 2, 512);
    neighbours<64>("levels_64_right", image, values, width, height, 2, 0, 132 * 2, 512);
    neighbours<64>("levels_64_across", noisy_image, noisy, width, height, 1, 1, 132, 1024);
    information(image, values, noisy);
    statistics<16>("columns_8000", 2000, 8000);
    statistics<8>("columns_30000", 500, 30000);
    summed_areas(image, values, width, height);
}

int main() {
    return run(body);
}
