// Kernels call through pointers and tables: arithmetic functions of a device and a constant table, virtual
// functions of shapes that a kernel constructs, a stack machine by a switch, a function with many arguments
// that is not inlined, and a recursive quadrature.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

#include <new>

using namespace textbook;

using Function = float (*)(float, float);
__host__ __device__ float plus(float a, float b) {
    return a + b;
}
__host__ __device__ float difference(float a, float b) {
    return fabsf(a - b);
}
__host__ __device__ float product(float a, float b) {
    return a * b + 0.25F;
}
__host__ __device__ float ratio(float a, float b) {
    return a / (2.0F + b * b);
}
__host__ __device__ float larger(float a, float b) {
    return fmaxf(a, b);
}
__host__ __device__ float horner(float a, float b) {
    return ((0.1F * a + b) * a - 0.3F) * a + 0.7F;
}
__host__ __device__ float root(float a, float b) {
    return sqrtf(a * a + b * b);
}
__host__ __device__ float blend(float a, float b) {
    return a + 0.375F * (b - a);
}
__device__ Function device_table[8] = {plus, difference, product, ratio, larger, horner, root, blend};
__constant__ Function constant_table[8] = {plus, difference, product, ratio, larger, horner, root, blend};
const Function host_table[8] = {plus, difference, product, ratio, larger, horner, root, blend};

/// `shift` 0: each element has its own function; 5: a warp shares one; by the device's table.
__global__ void apply_by_element(const float* a, const float* b, const unsigned char* codes, int shift,
                                 float* out, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    out[i] = device_table[codes[i >> shift] & 7](a[i], b[i]);
}
/// One chain of functions for all elements, by the constant table.
__global__ void apply_chain(const float* a, float* out, unsigned chain, int length, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        float value = a[i];
        const float first = value;
        for (int k = 0; k < length; ++k) value = constant_table[chain >> 4 * k & 7](value, first);
        out[i] = value;
    }
}

struct Shape {
    __device__ virtual float distance(float x, float y, float z) const = 0;
    __device__ virtual float shade(float d) const { return 1.0F / (1.0F + d * d); }
};
struct Sphere final : Shape {
    float x, y, z, r;
    __device__ Sphere(float4 s) : x(s.x), y(s.y), z(s.z), r(0.1F + 0.1F * fabsf(s.w)) {}
    __device__ float distance(float px, float py, float pz) const override {
        return norm3df(px - x, py - y, pz - z) - r;
    }
};
struct Box final : Shape {
    float x, y, z, half;
    __device__ Box(float4 s) : x(s.x), y(s.y), z(s.z), half(0.05F + 0.1F * fabsf(s.w)) {}
    __device__ float distance(float px, float py, float pz) const override {
        const float dx = fabsf(px - x) - half, dy = fabsf(py - y) - half, dz = fabsf(pz - z) - half;
        return norm3df(fmaxf(dx, 0.0F), fmaxf(dy, 0.0F), fmaxf(dz, 0.0F)) +
               fminf(fmaxf(dx, fmaxf(dy, dz)), 0.0F);
    }
    __device__ float shade(float d) const override { return __expf(-2.0F * d); }
};
struct Torus final : Shape {
    float x, y, z, wide, thin;
    __device__ Torus(float4 s) : x(s.x), y(s.y), z(s.z), wide(0.2F), thin(0.02F + 0.05F * fabsf(s.w)) {}
    __device__ float distance(float px, float py, float pz) const override {
        const float ring = hypotf(px - x, pz - z) - wide, dy = py - y;
        return sqrtf(ring * ring + dy * dy) - thin;
    }
    __device__ float shade(float d) const override { return fmaxf(0.0F, 1.0F - d) * wide; }
};
constexpr int shape_bytes = 32;
static_assert(sizeof(Sphere) <= shape_bytes && sizeof(Box) <= shape_bytes && sizeof(Torus) <= shape_bytes);

__global__ void construct(const float4* specs, char* arena, Shape** shapes, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    void* place = arena + i * shape_bytes;
    const int kind = i % 3;
    shapes[i] = kind == 0   ? static_cast<Shape*>(new (place) Sphere(specs[i]))
                : kind == 1 ? static_cast<Shape*>(new (place) Box(specs[i]))
                            : static_cast<Shape*>(new (place) Torus(specs[i]));
}
/// All threads walk the same list: calls are uniform.
__global__ void nearest_shape(const float4* points, Shape* const* shapes, int shape_count, float* out,
                              int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float4 p = points[i];
    float best = 1e9F;
    for (int s = 0; s < shape_count; ++s) best = fminf(best, shapes[s]->distance(p.x, p.y, p.z));
    out[i] = best;
}
/// Each thread asks a few shapes of its own, so calls diverge.
__global__ void own_shapes(const float4* points, Shape* const* shapes, const unsigned* picks, int shape_count,
                           float* out, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float4 p = points[i];
    float light = 0.0F;
    unsigned pick = picks[i];
    for (int k = 0; k < 3; ++k, pick /= 97) {
        const Shape* shape = shapes[pick % shape_count];
        light += shape->shade(fmaxf(shape->distance(p.x, p.y, p.z), 0.0F));
    }
    out[i] = light;
}

enum Code : unsigned char {
    X,
    Y,
    Constant,
    Add,
    Sub,
    Mul,
    Min,
    Max,
    Neg,
    Abs,
    Dup,
    Swap,
    Mix,
    Shr,
    Rot,
    End
};
/// 32-bit integer expressions over a stack; the same function serves host and device.
__host__ __device__ inline unsigned evaluate(const unsigned char* program, unsigned x, unsigned y) {
    unsigned stack[8] = {};
    int top = 0;
    for (;;) {
        switch (*program++) {
            case X:
                stack[top++] = x;
                break;
            case Y:
                stack[top++] = y;
                break;
            case Constant:
                stack[top++] = *program++;
                break;
            case Add:
                --top, stack[top - 1] += stack[top];
                break;
            case Sub:
                --top, stack[top - 1] -= stack[top];
                break;
            case Mul:
                --top, stack[top - 1] *= stack[top];
                break;
            case Min:
                --top, stack[top - 1] = stack[top - 1] < stack[top] ? stack[top - 1] : stack[top];
                break;
            case Max:
                --top, stack[top - 1] = stack[top - 1] > stack[top] ? stack[top - 1] : stack[top];
                break;
            case Neg:
                stack[top - 1] = -stack[top - 1];
                break;
            case Abs:
                stack[top - 1] = stack[top - 1] >> 31 ? -stack[top - 1] : stack[top - 1];
                break;
            case Dup:
                stack[top] = stack[top - 1], ++top;
                break;
            case Swap: {
                const unsigned t = stack[top - 1];
                stack[top - 1] = stack[top - 2], stack[top - 2] = t;
                break;
            }
            case Mix:
                --top, stack[top - 1] ^= stack[top] * 0x9E3779B9U;
                break;
            case Shr:
                stack[top - 1] >>= 3;
                break;
            case Rot:
                stack[top - 1] = stack[top - 1] << 7 | stack[top - 1] >> 25;
                break;
            default:
                return stack[top - 1];
        }
    }
}
/// `program_mask` 0: all threads run one program; otherwise a thread runs the program of its index.
__global__ void interpret(const unsigned char* programs, int program_mask, const uint2* inputs, unsigned* out,
                          int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = evaluate(programs + (i & program_mask) * 32, inputs[i].x, inputs[i].y);
}

__device__ __noinline__ float cubic(float a, float b, float c, float d, float x, float y, float z, float w,
                                    float s, float t, const float* scale, int k) {
    const float u = ((a * x + b) * x + c) * x + d, v = ((d * y + c) * y + b) * y + a;
    return u * s + v * t + (z - w) * scale[k];
}
__global__ void many_arguments(const float4* coefficients, const float4* points, const float* scale,
                               float* out, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float4 c = coefficients[i], p = points[i];
    const float once = cubic(c.x, c.y, c.z, c.w, p.x, p.y, p.z, p.w, 0.5F, 0.25F, scale, i & 15);
    out[i] = cubic(c.w, c.z, c.y, c.x, once, p.x, p.w, p.z, once, -0.125F, scale, i >> 5 & 15);
}

__host__ __device__ inline float peak(float x, float at) {
    return 1.0F / (0.01F + (x - at) * (x - at));
}
/// Adaptive Simpson: halves an interval as long as the estimates differ, at most `depth` times.
__host__ __device__ float quadrature(float at, float from, float width, float ends, float middle, int depth) {
    const float left = peak(from + 0.25F * width, at), right = peak(from + 0.75F * width, at);
    const float coarse = width * (ends + 4.0F * middle) / 6.0F;
    const float fine = width * (ends + 4.0F * (left + right) + 2.0F * middle) / 12.0F;
    if (depth == 0 || fabsf(fine - coarse) < 0.02F) return fine;
    const float low = peak(from, at), high = peak(from + width, at);
    return quadrature(at, from, 0.5F * width, low + middle, left, depth - 1) +
           quadrature(at, from + 0.5F * width, 0.5F * width, middle + high, right, depth - 1);
}
__global__ void integrate(const float* at, float* out, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    out[i] = quadrature(at[i], 0.0F, 1.0F, peak(0.0F, at[i]) + peak(1.0F, at[i]), peak(0.5F, at[i]), 5);
}

void body() {
    const int count = (2 << 20) + 77;
    const std::vector<float> host_a = random_values<float>(count, 1), host_b = random_values<float>(count, 2);
    const std::vector<unsigned char> host_codes = random_values<unsigned char>(count, 3);
    const Array<float> a(host_a), b(host_b), scale(random_values<float>(16, 4));
    const Array<unsigned char> codes(host_codes);
    Array<float> out(count);
    const int blocks = (count + 255) / 256;
    for (const int shift : {0, 5}) {
        prepare();
        apply_by_element<<<blocks, 256>>>(a.data(), b.data(), codes.data(), shift, out.data(), count);
        finish("by element");
        std::vector<double> expected(count);
        for (int i = 0; i < count; ++i)
            expected[i] = host_table[host_codes[i >> shift] & 7](host_a[i], host_b[i]);
        check_close(out.values(), expected, 1e-5, "by element");
        output(shift == 0 ? "own functions" : "functions of warps", out);
    }
    for (const int length : {3, 8}) {
        prepare();
        apply_chain<<<132 * 8, 256>>>(a.data(), out.data(), 0x73564120U, length, count);
        finish("chain");
        std::vector<double> expected(count);
        for (int i = 0; i < count; ++i) {
            float value = host_a[i];
            for (int k = 0; k < length; ++k) value = host_table[0x73564120U >> 4 * k & 7](value, host_a[i]);
            expected[i] = value;
        }
        check_close(out.values(), expected, 1e-4, "chain");
        output("chain", out);
    }
    const int shape_count = 24, point_count = 500000;
    const std::vector<float> host_points = random_values<float>(point_count * 4, 5);
    const Array<float> points(host_points), specs(random_values<float>(shape_count * 4, 6));
    const float4* point4 = reinterpret_cast<const float4*>(points.data());
    Array<char> arena(shape_count * shape_bytes);
    Array<Shape*> shapes(shape_count);
    prepare();
    construct<<<1, 32>>>(reinterpret_cast<const float4*>(specs.data()), arena.data(), shapes.data(),
                         shape_count);
    finish("construct");
    Array<float> distances(point_count);
    prepare();
    nearest_shape<<<(point_count + 127) / 128, 128>>>(point4, shapes.data(), shape_count, distances.data(),
                                                      point_count);
    finish("nearest");
    output("distances", distances);
    const Array<unsigned> picks(random_values<unsigned>(point_count, 7));
    prepare();
    own_shapes<<<(point_count + 255) / 256, 256>>>(point4, shapes.data(), picks.data(), shape_count,
                                                   distances.data(), point_count);
    finish("own shapes");
    output("light", distances);

    std::vector<unsigned char> programs(64 * 32, End);
    for (int p = 0; p < 64; ++p) {  // a stack that holds 1 to 5 values
        unsigned char* at = programs.data() + p * 32;
        int depth = 0, length = 0;
        for (unsigned k = 0; length + depth < 28; ++k) {
            const unsigned bits = random_bits(8, p * 64 + k);
            const unsigned char code =
                depth < 2 || (depth < 5 && bits % 3 == 0) ? bits / 4 % 3 : 3 + bits / 4 % 12;
            if (code == Dup && depth == 5) continue;
            at[length++] = code;
            if (code == Constant) at[length++] = bits >> 8;
            depth += code <= Constant || code == Dup               ? 1
                     : (code >= Add && code <= Max) || code == Mix ? -1
                                                                   : 0;
        }
    }
    const int input_count = 1 << 19;
    const std::vector<unsigned> host_inputs = random_values<unsigned>(2 * input_count, 9);
    const Array<unsigned> inputs(host_inputs);
    const Array<unsigned char> device_programs(programs);
    Array<unsigned> results(input_count);
    for (const int mask : {0, 3, 63}) {
        prepare();
        interpret<<<input_count / 128, 128>>>(device_programs.data(), mask,
                                              reinterpret_cast<const uint2*>(inputs.data()), results.data(),
                                              input_count);
        finish("interpret");
        const std::vector<unsigned> got = results.values();
        for (int i = 0; i < input_count; ++i)
            check(got[i] ==
                      evaluate(programs.data() + (i & mask) * 32, host_inputs[2 * i], host_inputs[2 * i + 1]),
                  "interpret");
        output("expressions", results);
    }
    prepare();
    many_arguments<<<(point_count + 255) / 256, 256>>>(point4, reinterpret_cast<const float4*>(a.data()),
                                                       scale.data(), distances.data(), point_count);
    finish("many arguments");
    output("cubics", distances);
    const int integrals = 150000;
    Array<float> sums(integrals);
    prepare();
    integrate<<<(integrals + 127) / 128, 128>>>(a.data(), sums.data(), integrals);
    finish("integrate");
    std::vector<double> expected(integrals);
    for (int i = 0; i < integrals; ++i)
        expected[i] = quadrature(host_a[i], 0.0F, 1.0F, peak(0.0F, host_a[i]) + peak(1.0F, host_a[i]),
                                 peak(0.5F, host_a[i]), 5);
    check_close(sums.values(), expected, 2e-3, "integrals");
    output("integrals", sums);
}

int main() {
    return run(body);
}
