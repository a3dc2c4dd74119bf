// Trees walked by threads: nearest points with a stack in local memory, boxes by skip pointers, forests of
// decisions two ways, a search tree by 16 lanes, prefixes of addresses, and boxes joined upwards.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

/// Points in the order of a balanced tree: the middle of each range splits it, axes in turn.
__global__ void __launch_bounds__(128)
    nearest(const float4* points, const float4* queries, float* distances, int size, int count) {
    struct Later {
        int low, high, axis;
        float apart;
    };
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float4 q = queries[i];
    Later stack[24];
    int depth = 0, low = 0, high = size, axis = 0;
    float best = 1e30F;
    for (;;) {
        while (low < high) {
            const int middle = (low + high) / 2;
            const float4 p = points[middle];
            const float dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z;
            best = fminf(best, dx * dx + dy * dy + dz * dz);
            const float apart = axis == 0 ? dx : axis == 1 ? dy : dz;
            const int next = axis == 2 ? 0 : axis + 1;
            const bool below = apart < 0.0F;
            if (apart * apart < best)
                stack[depth++] = {below ? middle + 1 : low, below ? high : middle, next, apart * apart};
            low = below ? low : middle + 1;
            high = below ? middle : high;
            axis = next;
        }
        while (depth > 0 && stack[depth - 1].apart >= best) --depth;
        if (depth == 0) break;
        const Later& later = stack[--depth];
        low = later.low;
        high = later.high;
        axis = later.axis;
    }
    distances[i] = best;
}

/// How many points lie within a radius: the stack in shared memory, a column a thread.
__global__ void __launch_bounds__(64)
    within(const float4* points, const float4* queries, int* counts, int size, int count, float radius) {
    __shared__ int2 stack[24][64];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float4 q = queries[i];
    int depth = 1, found = 0;
    stack[0][threadIdx.x] = {0, size * 4};  // the high end times four, plus the axis
    while (depth > 0) {
        const int2 range = stack[--depth][threadIdx.x];
        const int low = range.x, high = range.y / 4, axis = range.y % 4, middle = (low + high) / 2;
        const float4 p = points[middle];
        const float dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z;
        found += dx * dx + dy * dy + dz * dz < radius * radius ? 1 : 0;
        const float apart = axis == 0 ? dx : axis == 1 ? dy : dz;
        const int next = axis == 2 ? 0 : axis + 1;
        if (low < middle && apart < radius) stack[depth++][threadIdx.x] = {low, middle * 4 + next};
        if (middle + 1 < high && apart > -radius) stack[depth++][threadIdx.x] = {middle + 1, high * 4 + next};
    }
    counts[i] = found;
}

/// Nodes in the order of a walk: low.w holds where to go on when the box is missed, high.w is 1 for a leaf.
struct Box {
    float4 low, high;
};
__global__ void overlaps(const Box* boxes, const Box* queries, int* counts, int size, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const Box q = queries[i];
    int found = 0;
    for (int at = 0; at < size;) {
        const float4 low = __ldg(&boxes[at].low), high = __ldg(&boxes[at].high);
        const bool hit = q.low.x <= high.x && q.high.x >= low.x && q.low.y <= high.y && q.high.y >= low.y &&
                         q.low.z <= high.z && q.high.z >= low.z;
        if (hit && high.w != 0.0F) ++found;
        at = hit ? at + 1 : __float_as_int(low.w);
    }
    counts[i] = found;
}

constexpr int levels = 8, inner = (1 << levels) - 1, leaves = 1 << levels;

/// A thread a sample through all trees; features in rows, nodes in arrays of their own.
__global__ void forest_rows(const float* samples, const short* features, const float* thresholds,
                            const float* values, float* out, int trees, int width, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float* row = samples + static_cast<std::size_t>(i) * width;
    float sum = 0.0F;
    for (int t = 0; t < trees; ++t) {
        int node = 0;
#pragma unroll
        for (int l = 0; l < levels; ++l)
            node = 2 * node + (row[features[t * inner + node]] < thresholds[t * inner + node] ? 1 : 2);
        sum += values[t * leaves + node - inner];
    }
    out[i] = sum;
}
/// Ten trees a CTA in shared memory, samples by columns; the parts are added by atomics.
__global__ void __launch_bounds__(256)
    forest_columns(const float* columns, const short* features, const float* thresholds, const float* values,
                   float* out, int count) {
    __shared__ int2 nodes[10][inner];
    __shared__ float ends[10][leaves];
    for (int k = threadIdx.x; k < 10 * inner; k += 256) {
        const int from = blockIdx.y * 10 * inner + k;
        nodes[k / inner][k % inner] = {features[from] * count, __float_as_int(thresholds[from])};
    }
    for (int k = threadIdx.x; k < 10 * leaves; k += 256)
        ends[k / leaves][k % leaves] = values[blockIdx.y * 10 * leaves + k];
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < count; i += gridDim.x * 256) {
        float sum = 0.0F;
#pragma unroll 2
        for (int t = 0; t < 10; ++t) {
            int node = 0;
#pragma unroll
            for (int l = 0; l < levels; ++l) {
                const int2 own = nodes[t][node];
                node = 2 * node + (columns[own.x + i] < __int_as_float(own.y) ? 1 : 2);
            }
            sum += ends[t][node - inner];
        }
        atomicAdd(out + i, sum);
    }
}

/// Sorted keys with every 16th in the level above; 16 lanes look at a node together.
struct Levels {
    int starts[5];
};
__global__ void search_tree(const unsigned* keys, const unsigned* queries, int* out, Levels tree, int count) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 16, lane = threadIdx.x % 16;
    const bool inside = i < count;
    const unsigned query = inside ? queries[i] : 0;
    int node = 0;
#pragma unroll
    for (int l = 0; l < 5; ++l) {
        const unsigned key = keys[tree.starts[l] + node * 16 + lane];
        const unsigned votes =
            __ballot_sync(0xffffffffU, key <= query) >> (threadIdx.x % 32 / 16 * 16) & 0xffffU;
        node = node * 16 + max(__popc(votes) - 1, 0);
    }
    if (inside && lane == 0) out[i] = node;
}

/// Longest prefixes: 16 bits, then 8 and 8; an entry with its top bit set names a table of 256.
__global__ void prefixes(const unsigned* root, const unsigned* tables, const unsigned* addresses,
                         unsigned* out, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const unsigned address = addresses[i];
        unsigned entry = root[address >> 16];
        for (int shift = 8; (entry >> 31) != 0; shift -= 8)
            entry = tables[(entry & 0x7fffffffU) * 256 + ((address >> shift) & 255U)];
        out[i] = entry;
    }
}

/// From every leaf upwards: whoever comes second to a node joins its two boxes and goes on.
__global__ void join_boxes(const float4* points, float4* lows, float4* highs, int* arrived, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float4 p = points[i];
    float4 low = {p.x - 0.01F, p.y - 0.01F, p.z - 0.01F, 0.0F};
    float4 high = {p.x + 0.01F, p.y + 0.01F, p.z + 0.01F, 0.0F};
    for (int node = count + i;; node /= 2) {
        __stcg(lows + node, low);
        __stcg(highs + node, high);
        if (node == 1) return;
        __threadfence();
        if (atomicAdd(arrived + node / 2, 1) == 0) return;
        __threadfence();
        const float4 other_low = __ldcg(lows + (node ^ 1)), other_high = __ldcg(highs + (node ^ 1));
        low = {fminf(low.x, other_low.x), fminf(low.y, other_low.y), fminf(low.z, other_low.z), 0.0F};
        high = {fmaxf(high.x, other_high.x), fmaxf(high.y, other_high.y), fmaxf(high.z, other_high.z), 0.0F};
    }
}

float axis_of(const float4& point, int axis) {
    return axis == 0 ? point.x : axis == 1 ? point.y : point.z;
}
void arrange(std::vector<float4>& points, int low, int high, int axis) {
    if (high - low < 2) return;
    const int middle = (low + high) / 2;
    std::nth_element(points.begin() + low, points.begin() + middle, points.begin() + high,
                     [&](const float4& a, const float4& b) { return axis_of(a, axis) < axis_of(b, axis); });
    arrange(points, low, middle, (axis + 1) % 3);
    arrange(points, middle + 1, high, (axis + 1) % 3);
}
/// Appends the node of a range and all below it.
Box enclose(const std::vector<float4>& points, std::vector<Box>& boxes, int low, int high) {
    const std::size_t own = boxes.size();
    boxes.push_back({});
    Box box;
    if (high - low == 1) {
        const float4 p = points[low];
        box = {{p.x - 0.004F, p.y - 0.004F, p.z - 0.004F, 0.0F},
               {p.x + 0.004F, p.y + 0.004F, p.z + 0.004F, 1.0F}};
    } else {
        const int middle = (low + high) / 2;
        const Box a = enclose(points, boxes, low, middle), b = enclose(points, boxes, middle, high);
        box = {
            {std::min(a.low.x, b.low.x), std::min(a.low.y, b.low.y), std::min(a.low.z, b.low.z), 0.0F},
            {std::max(a.high.x, b.high.x), std::max(a.high.y, b.high.y), std::max(a.high.z, b.high.z), 0.0F}};
    }
    const int skip = static_cast<int>(boxes.size());
    std::memcpy(&box.low.w, &skip, sizeof(skip));
    boxes[own] = box;
    return box;
}

std::vector<float4> random_points(int count, int seed) {
    std::vector<float4> points(count);
    for (int i = 0; i < count; ++i)
        points[i] = {random_float(seed, 3 * i), random_float(seed, 3 * i + 1), random_float(seed, 3 * i + 2),
                     0.0F};
    return points;
}

void body() {
    const int size = 1 << 17, count = 100003;
    std::vector<float4> points = random_points(size, 1);
    const std::vector<float4> query_values = random_points(count, 2);
    arrange(points, 0, size, 0);
    const Array<float4> tree(points), queries(query_values);
    Array<float> distances(count);
    Array<int> counts(count);
    prepare();
    nearest<<<(count + 127) / 128, 128>>>(tree.data(), queries.data(), distances.data(), size, count);
    finish("nearest");
    prepare();
    within<<<(count + 63) / 64, 64>>>(tree.data(), queries.data(), counts.data(), size, count, 0.04F);
    finish("within");
    const std::vector<float> got = distances.values();
    for (int i = 3; i < count; i += 9973) {
        float best = 1e30F;
        for (const float4& p : points) {
            const float dx = query_values[i].x - p.x, dy = query_values[i].y - p.y,
                        dz = query_values[i].z - p.z;
            best = std::min(best, dx * dx + dy * dy + dz * dz);
        }
        check(std::fabs(got[i] - best) <= 1e-5F * best, "nearest");
    }
    output("nearest", got);
    const std::vector<int> near = counts.values();
    output("within", std::vector<float>(near.begin(), near.end()));
    std::vector<Box> boxes, searched(count);
    enclose(points, boxes, 0, 1 << 15);
    for (int i = 0; i < count; ++i) {
        const float4 q = query_values[i];
        searched[i] = {{q.x - 0.03F, q.y - 0.03F, q.z - 0.03F, 0.0F},
                       {q.x + 0.03F, q.y + 0.03F, q.z + 0.03F, 0.0F}};
    }
    const Array<Box> box_array(boxes), searched_array(searched);
    prepare();
    overlaps<<<(count + 255) / 256, 256>>>(box_array.data(), searched_array.data(), counts.data(),
                                           static_cast<int>(boxes.size()), count);
    finish("overlaps");
    output("overlaps", counts);
    const int trees = 60, width = 24, samples = 60000;
    const std::vector<float> rows = random_values<float>(static_cast<std::size_t>(samples) * width, 3);
    std::vector<float> columns(rows.size());
    for (int i = 0; i < samples; ++i)
        for (int f = 0; f < width; ++f)
            columns[static_cast<std::size_t>(f) * samples + i] =
                rows[static_cast<std::size_t>(i) * width + f];
    std::vector<short> feature_values(trees * inner);
    for (int i = 0; i < trees * inner; ++i) feature_values[i] = static_cast<short>(random_bits(4, i) % width);
    const Array<float> row_array(rows), column_array(columns),
        thresholds(random_values<float>(trees * inner, 5));
    const Array<float> values(random_values<float>(trees * leaves, 6));
    const Array<short> features(feature_values);
    Array<float> first(samples), second(samples);
    prepare();
    forest_rows<<<(samples + 127) / 128, 128>>>(row_array.data(), features.data(), thresholds.data(),
                                                values.data(), first.data(), trees, width, samples);
    finish("rows");
    output("forest", first);
    prepare();
    forest_columns<<<dim3(60, trees / 10), 256>>>(column_array.data(), features.data(), thresholds.data(),
                                                  values.data(), second.data(), samples);
    finish("columns");
    const std::vector<float> sums = first.values();
    check_close(second.values(), std::vector<double>(sums.begin(), sums.end()), 1e-4, "columns");
    const int leaf_keys = 1 << 20;
    std::vector<unsigned> sorted = random_values<unsigned>(leaf_keys, 7), keys;
    std::sort(sorted.begin(), sorted.end());
    Levels searched_levels;
    for (int l = 0; l < 5; ++l) {
        searched_levels.starts[l] = static_cast<int>(keys.size());
        for (int i = 0; i < leaf_keys; i += 1 << (16 - 4 * l)) keys.push_back(sorted[i]);
    }
    const std::vector<unsigned> wanted = random_values<unsigned>(1500001, 8);
    const Array<unsigned> key_array(keys), wanted_array(wanted);
    Array<int> places(wanted.size());
    prepare();
    search_tree<<<(1500001 + 15) / 16, 256>>>(key_array.data(), wanted_array.data(), places.data(),
                                              searched_levels, 1500001);
    finish("search");
    const std::vector<int> found = places.values();
    for (std::size_t i = 0; i < wanted.size(); i += 101) {
        const auto above = std::upper_bound(sorted.begin(), sorted.end(), wanted[i]) - sorted.begin();
        check(found[i] == std::max<std::ptrdiff_t>(above - 1, 0), "search");
    }
    output("search", found);
    std::vector<unsigned> root(65536), tables;
    for (std::size_t i = 0; i < root.size(); ++i) {
        root[i] = random_bits(9, i) & 0xffffU;
        if (i % 3 != 0) continue;
        const std::size_t table = tables.size() / 256;
        root[i] = 0x80000000U | static_cast<unsigned>(table);
        const bool deeper = i % 9 == 0;
        tables.resize(tables.size() + (deeper ? 512 : 256));
        for (std::size_t k = 0; k < (deeper ? 512U : 256U); ++k)
            tables[table * 256 + k] = random_bits(10, table * 256 + k) & 0xffffU;
        if (deeper)
            for (std::size_t k = 0; k < 64; ++k)
                tables[table * 256 + 4 * k] = 0x80000000U | static_cast<unsigned>(table + 1);
    }
    const Array<unsigned> root_array(root), table_array(tables);
    Array<unsigned> hops(wanted.size());
    prepare();
    prefixes<<<132 * 4, 256>>>(root_array.data(), table_array.data(), wanted_array.data(), hops.data(),
                               1500001);
    finish("prefixes");
    output("prefixes", hops);
    const int many = 1 << 19;
    const std::vector<float4> scattered = random_points(many, 11);
    const Array<float4> scattered_array(scattered);
    Array<float4> lows(2 * many), highs(2 * many);
    Array<int> arrived(many);
    prepare();
    join_boxes<<<many / 256, 256>>>(scattered_array.data(), lows.data(), highs.data(), arrived.data(), many);
    finish("join");
    float least = 2.0F;
    for (const float4& p : scattered) least = std::min(least, p.x - 0.01F);
    check(lows.values()[1].x == least, "join");
}

int main() {
    return run(body);
}
