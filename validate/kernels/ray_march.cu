// Pictures of a volume, of floats or of bytes: rays with samples between eight voxels that end once opaque,
// the first surface along each ray with light on it, largest values along an axis, and gradients of all
// voxels.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

struct View {
    float3 origin, corner, right, down;  // The ray of a pixel goes through corner + x * right + y * down.
    float step;
    int steps;
};

__host__ __device__ inline float scale_of(const float*) {
    return 1.0F;
}
__host__ __device__ inline float scale_of(const unsigned char*) {
    return 1.0F / 255.0F;
}

/// The value between eight voxels; nothing outside.
template <class T>
__host__ __device__ inline float sample(const T* volume, int n, float x, float y, float z) {
    const float fx = floorf(x), fy = floorf(y), fz = floorf(z);
    const int i = static_cast<int>(fx), j = static_cast<int>(fy), k = static_cast<int>(fz);
    if (i < 0 || j < 0 || k < 0 || i >= n - 1 || j >= n - 1 || k >= n - 1) return 0.0F;
    const float u = x - fx, v = y - fy, w = z - fz;
    const T* p = volume + (static_cast<size_t>(k) * n + j) * n + i;
    const T* q = p + static_cast<size_t>(n) * n;
    const float a = p[0] + u * (static_cast<float>(p[1]) - static_cast<float>(p[0]));
    const float b = p[n] + u * (static_cast<float>(p[n + 1]) - static_cast<float>(p[n]));
    const float c = q[0] + u * (static_cast<float>(q[1]) - static_cast<float>(q[0]));
    const float d = q[n] + u * (static_cast<float>(q[n + 1]) - static_cast<float>(q[n]));
    const float near = a + v * (b - a), far = c + v * (d - c);
    return (near + w * (far - near)) * scale_of(volume);
}

__host__ __device__ inline float3 direction_of(const View& view, int x, int y) {
    const float dx = view.corner.x + x * view.right.x + y * view.down.x - view.origin.x;
    const float dy = view.corner.y + x * view.right.y + y * view.down.y - view.origin.y;
    const float dz = view.corner.z + x * view.right.z + y * view.down.z - view.origin.z;
    const float length = view.step / sqrtf(dx * dx + dy * dy + dz * dz);
    return {dx * length, dy * length, dz * length};
}

/// Colour and opacity of one ray from the front, until little shows through.
template <class T>
__host__ __device__ inline float2 march(const T* volume, int n, const View& view, int x, int y) {
    const float3 d = direction_of(view, x, y);
    float3 p = view.origin;
    float colour = 0.0F, through = 1.0F;
    for (int i = 0; i < view.steps; ++i) {
        const float density = sample(volume, n, p.x, p.y, p.z);
        if (density > 0.1F) {
            const float alpha = fminf(0.25F * (density - 0.1F), 1.0F);
            colour += through * alpha * (0.3F + 0.7F * density);
            through *= 1.0F - alpha;
            if (through < 0.04F) break;
        }
        p.x += d.x;
        p.y += d.y;
        p.z += d.z;
    }
    return {colour, 1.0F - through};
}

template <class T>
__global__ void render(const T* __restrict__ volume, int n, View view, float2* picture, int width,
                       int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) picture[y * width + x] = march(volume, n, view, x, y);
}

/// The first sample over `level` on each ray, found closer by halving, and its light from the gradient.
template <class T>
__global__ void __launch_bounds__(192)
    surface(const T* volume, int n, View view, float level, float* picture, int width, int height) {
    const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= width * height) return;
    const float3 d = direction_of(view, pixel % width, pixel / width);
    float3 p = view.origin;
    float light = 0.0F;
    for (int i = 0; i < view.steps; ++i) {
        p.x += d.x;
        p.y += d.y;
        p.z += d.z;
        if (sample(volume, n, p.x, p.y, p.z) <= level) continue;
        float low = -1.0F, high = 0.0F;
        for (int k = 0; k < 5; ++k) {
            const float t = 0.5F * (low + high);
            if (sample(volume, n, p.x + t * d.x, p.y + t * d.y, p.z + t * d.z) > level)
                high = t;
            else
                low = t;
        }
        p = {p.x + high * d.x, p.y + high * d.y, p.z + high * d.z};
        const float gx = sample(volume, n, p.x + 1.0F, p.y, p.z) - sample(volume, n, p.x - 1.0F, p.y, p.z);
        const float gy = sample(volume, n, p.x, p.y + 1.0F, p.z) - sample(volume, n, p.x, p.y - 1.0F, p.z);
        const float gz = sample(volume, n, p.x, p.y, p.z + 1.0F) - sample(volume, n, p.x, p.y, p.z - 1.0F);
        const float length = sqrtf(gx * gx + gy * gy + gz * gz + 1e-12F);
        light = 0.2F + 0.8F * fabsf(gx * d.x + gy * d.y + gz * d.z) / (length * view.step);
        break;
    }
    picture[pixel] = light;
}

/// The largest value along an axis, a thread a line: steps of `along`, lines apart by `first` and `second`.
template <class T>
__global__ void largest_along(const T* volume, T* picture, int n, int along, int first, int second) {
    const int a = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.y * blockDim.y + threadIdx.y;
    if (a >= n || b >= n) return;
    const T* line = volume + static_cast<size_t>(a) * first + static_cast<size_t>(b) * second;
    T largest = line[0];
    for (int i = 1; i < n; ++i) {
        const T value = line[static_cast<size_t>(i) * along];
        largest = value > largest ? value : largest;
    }
    picture[b * n + a] = largest;
}

/// Along x by a warp a line, four bytes at a time.
__global__ void largest_of_rows(const unsigned* volume, unsigned char* picture, int n) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= n * n) return;
    const unsigned* line = volume + static_cast<size_t>(row) * (n / 4);
    unsigned largest = 0;
    for (int i = lane; i < n / 4; i += 32) largest = __vmaxu4(largest, line[i]);
    largest = max(max(largest & 255U, largest >> 8 & 255U), max(largest >> 16 & 255U, largest >> 24));
    largest = __reduce_max_sync(0xffffffffU, largest);
    if (lane == 0) picture[row] = static_cast<unsigned char>(largest);
}

/// Lengths of the gradients of all voxels, with light for those of a high one.
__global__ void gradients(const float* __restrict__ volume, float* out, int n, float3 sun) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int z = blockIdx.z;
    if (x >= n || y >= n) return;
    const size_t row = static_cast<size_t>(n), slice = row * n, at = z * slice + y * row + x;
    if (x == 0 || y == 0 || z == 0 || x == n - 1 || y == n - 1 || z == n - 1) {
        out[at] = 0.0F;
        return;
    }
    const float gx = 0.5F * (__ldg(volume + at + 1) - __ldg(volume + at - 1));
    const float gy = 0.5F * (__ldg(volume + at + row) - __ldg(volume + at - row));
    const float gz = 0.5F * (__ldg(volume + at + slice) - __ldg(volume + at - slice));
    const float square = gx * gx + gy * gy + gz * gz;
    float light = sqrtf(square);
    if (square > 1e-4F) light += fmaxf(0.0F, (gx * sun.x + gy * sun.y + gz * sun.z) * rsqrtf(square));
    out[at] = light;
}

/// Balls that fade outwards, and a little noise.
std::vector<float> make(int n) {
    constexpr int balls = 12;
    float centres[balls][4];
    for (int b = 0; b < balls; ++b) {
        for (int k = 0; k < 3; ++k) centres[b][k] = (0.5F + 0.28F * random_float(1 + k, b)) * n;
        centres[b][3] = (0.15F + 0.05F * random_float(4, b)) * n;
    }
    std::vector<float> values(static_cast<size_t>(n) * n * n);
    for (int z = 0, at = 0; z < n; ++z)
        for (int y = 0; y < n; ++y)
            for (int x = 0; x < n; ++x, ++at) {
                float value = 0.02F + 0.02F * random_float(5, at);
                for (const auto& centre : centres) {
                    const float dx = x - centre[0], dy = y - centre[1], dz = z - centre[2];
                    const float near = 1.0F - (dx * dx + dy * dy + dz * dz) / (centre[3] * centre[3]);
                    if (near > 0.0F) value += 0.5F * near;
                }
                values[at] = std::min(value, 1.0F);
            }
    return values;
}

View view_of(int n, int width, int height) {
    const float size = static_cast<float>(n);
    return {{0.45F * size, 0.4F * size, -0.9F * size},
            {-0.1F * size, 0.05F * size, 0.0F},
            {1.2F * size / width, 0.0F, 0.05F * size / width},
            {0.02F * size / height, 0.9F * size / height, 0.0F},
            size / 80.0F,
            200};
}

template <class T>
void pictures(const char* name, const std::vector<T>& values, int n, int width, int height) {
    const Array<T> volume(values);
    const View view = view_of(n, width, height);
    const dim3 block(16, 16), grid((width + 15) / 16, (height + 15) / 16);
    const Array<float> picture(static_cast<size_t>(width) * height * 2);
    prepare();
    render<<<grid, block>>>(volume.data(), n, view, reinterpret_cast<float2*>(picture.data()), width, height);
    finish("render");
    const auto got = picture.values();
    for (int k = 0; k < 200; ++k) {
        const int x = static_cast<int>(random_bits(6, k) % width),
                  y = static_cast<int>(random_bits(7, k) % height);
        const float2 expected = march(values.data(), n, view, x, y);
        const size_t at = 2 * (static_cast<size_t>(y) * width + x);
        check(std::fabs(got[at] - expected.x) < 0.05F && std::fabs(got[at + 1] - expected.y) < 0.05F, name);
    }
    output((std::string(name) + "_rendered").c_str(), got);
    const Array<float> lit(static_cast<size_t>(width) * height);
    prepare();
    surface<<<(width * height + 191) / 192, 192>>>(volume.data(), n, view, 0.4F, lit.data(), width, height);
    finish("surface");
    for (const float light : lit.values()) check(light >= 0.0F && light < 1.01F, "surface");
    output((std::string(name) + "_surface").c_str(), lit);
}

template <class T>
void projection(const char* name, const Array<T>& volume, const std::vector<T>& values, int n, int axis,
                dim3 block) {
    const int row = n, slice = n * n;
    const int along = axis == 0 ? 1 : axis == 1 ? row : slice;
    const int first = axis == 0 ? row : 1, second = axis == 2 ? row : slice;
    const Array<T> picture(static_cast<size_t>(n) * n);
    const dim3 grid((n + block.x - 1) / block.x, (n + block.y - 1) / block.y);
    prepare();
    largest_along<<<grid, block>>>(volume.data(), picture.data(), n, along, first, second);
    finish("largest along");
    const auto got = picture.values();
    for (int a = 0; a < n; ++a)
        for (int b = 0; b < n; b += 5) {
            T largest = 0;
            for (int i = 0; i < n; ++i)
                largest =
                    std::max(largest, values[static_cast<size_t>(i) * along + static_cast<size_t>(a) * first +
                                             static_cast<size_t>(b) * second]);
            check(got[static_cast<size_t>(b) * n + a] == largest, name);
        }
    output(name, picture);
}

void body() {
    constexpr int n = 224, bytes_n = 320;
    const auto values = make(n);
    const auto large = make(bytes_n);
    std::vector<unsigned char> bytes(large.size());
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(large[i] * 255.0F);
    pictures("floats", values, n, 480, 320);
    pictures("bytes", bytes, bytes_n, 400, 400);

    const Array<float> volume(values);
    const Array<unsigned char> byte_volume(bytes);
    projection("floats_along_z", volume, values, n, 2, dim3(32, 4));
    projection("floats_along_x", volume, values, n, 0, dim3(64, 1));
    projection("bytes_along_z", byte_volume, bytes, bytes_n, 2, dim3(64, 2));
    projection("bytes_along_y", byte_volume, bytes, bytes_n, 1, dim3(64, 4));
    projection("bytes_along_x", byte_volume, bytes, bytes_n, 0, dim3(32, 8));
    const Array<unsigned char> rows(static_cast<size_t>(bytes_n) * bytes_n);
    prepare();
    largest_of_rows<<<(bytes_n * bytes_n + 7) / 8, 256>>>(
        reinterpret_cast<const unsigned*>(byte_volume.data()), rows.data(), bytes_n);
    finish("largest of rows");
    const auto got = rows.values();
    for (int row = 0; row < bytes_n * bytes_n; row += 7) {
        const auto line = bytes.begin() + static_cast<std::ptrdiff_t>(row) * bytes_n;
        check(got[row] == *std::max_element(line, line + bytes_n), "largest of rows");
    }
    output("bytes_rows", rows);

    const Array<float> lengths(values.size());
    prepare();
    gradients<<<dim3((n + 63) / 64, (n + 3) / 4, n), dim3(64, 4)>>>(volume.data(), lengths.data(), n,
                                                                    {0.6F, -0.64F, 0.48F});
    finish("gradients");
    output("gradients", lengths);
}

int main() {
    return run(body);
}
