// What a warp's read through the texture unit costs: cycles of an SM between two reads, by the kind of the
// texel, the filter, the places of the lanes and the warps, and the latency of a read alone. The texture fits
// into the L1. Prints CSV: form, texel, lanes, warps, chained, cycles (of one warp's read on one SM). With
// the argument `once`, each launch is one read of one warp, for a profiler that counts sectors and lines;
// prints what each launch reads: two lanes that are (x, y) texels apart.
// SPDX-License-Identifier: Apache-2.0
//
// nvcc -std=c++20 -O3 -gencode arch=compute_90a,code=sm_90a -o texture_reads texture_reads.cu &&
// ./texture_reads > texture_reads.csv
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <string>
#include <vector>

namespace {

void require(cudaError_t error) {
    if (error != cudaSuccess) {
        std::printf("error: %s\n", cudaGetErrorString(error));
        std::exit(1);
    }
}

constexpr int side = 32, rounds = 256;

enum class Form { fetch1d, plain2d, linear2d, pitched2d, plain3d, linear3d, layered2d, gather2d, surface2d };

__device__ float sum_of(float v) {
    return v;
}
__device__ float sum_of(float2 v) {
    return v.x + v.y;
}
__device__ float sum_of(float4 v) {
    return v.x + v.y + v.z + v.w;
}

template <Form form, class Texel>
__device__ float read(cudaTextureObject_t texture, cudaSurfaceObject_t surface, float x, float y) {
    if constexpr (form == Form::fetch1d) return sum_of(tex1Dfetch<Texel>(texture, static_cast<int>(x)));
    if constexpr (form == Form::plain2d || form == Form::linear2d || form == Form::pitched2d)
        return sum_of(tex2D<Texel>(texture, x, y));
    if constexpr (form == Form::plain3d || form == Form::linear3d)
        return sum_of(tex3D<Texel>(texture, x, y, 1.25F));
    if constexpr (form == Form::layered2d) return sum_of(tex2DLayered<Texel>(texture, x, y, 1));
    if constexpr (form == Form::gather2d) return sum_of(tex2Dgather<float4>(texture, x, y, 0));
    if constexpr (form == Form::surface2d)
        return sum_of(surf2Dread<Texel>(surface, static_cast<int>(x) * static_cast<int>(sizeof(Texel)),
                                        static_cast<int>(y)));
}

/// Four reads are under way, or each waits for the one before.
template <Form form, class Texel, bool chained>
__global__ void __launch_bounds__(1024, 1)
    reads(cudaTextureObject_t texture, cudaSurfaceObject_t surface, const float* places, float none,
          long long* cycles, float* out) {
    float x[4], y[4];
    for (int i = 0; i < 4; ++i) {
        x[i] = places[(i * 32 + threadIdx.x % 32) * 2];
        y[i] = places[(i * 32 + threadIdx.x % 32) * 2 + 1];
    }
    float sum = 0.0F;
    const auto pass = [&](int times) {
#pragma unroll 1
        for (int round = 0; round < times; ++round) {
            float value[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                value[i] = read<form, Texel>(texture, surface, x[i], y[i]);
                if constexpr (chained) {
                    x[(i + 1) % 4] += none * value[i];
                } else {
                    x[i] += none;
                }
            }
#pragma unroll
            for (int i = 0; i < 4; ++i) sum += value[i];
        }
    };
    pass(4);
    __syncthreads();
    const long long begin = clock64();
    pass(rounds);
    __syncthreads();
    const long long end = clock64();
    if (threadIdx.x == 0) cycles[blockIdx.x] = end - begin;
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/// Where lane `lane` reads.
std::pair<float, float> place_of(const std::string& lanes, int i, int lane) {
    const auto random = [&](int salt) {
        std::uint32_t z = static_cast<std::uint32_t>(salt) * 2654435761U + 12345U;
        z = (z ^ (z >> 15)) * 2246822519U;
        z = (z ^ (z >> 13)) * 3266489917U;
        return static_cast<float>((z ^ (z >> 16)) % (side - 2));
    };
    float x = 0.0F, y = 0.0F;
    if (lanes == "row") x = static_cast<float>(lane), y = static_cast<float>(i);
    if (lanes == "column") x = static_cast<float>(i), y = static_cast<float>(lane);
    if (lanes == "tile_8x4") x = static_cast<float>(lane % 8), y = static_cast<float>(lane / 8 + i);
    if (lanes == "quads_2x2") {
        const int quad = lane / 4;
        x = static_cast<float>(quad % 4 * 2 + lane % 2),
        y = static_cast<float>(quad / 4 * 2 + lane % 4 / 2 + i);
    }
    if (lanes == "same") x = static_cast<float>(i), y = 1.0F;
    if (lanes == "every_second")
        x = static_cast<float>(lane * 2 % side), y = static_cast<float>(lane / 16 + i);
    if (lanes == "random_quads")
        x = random(i * 8 + lane / 4) + static_cast<float>(lane % 2), y = random(900 + i * 8 + lane / 4);
    if (lanes == "random") x = random(i * 32 + lane), y = random(1900 + i * 32 + lane);
    return {x, y};
}

struct Texture {
    cudaTextureObject_t texture = 0;
    cudaSurfaceObject_t surface = 0;
};

template <class Element>
Texture make(Form form, int channels, bool normalized) {
    constexpr int depth = 4;
    const bool line = form == Form::fetch1d, pitched = form == Form::pitched2d;
    const bool deep = form == Form::plain3d || form == Form::linear3d, layered = form == Form::layered2d;
    constexpr int bits = 8 * static_cast<int>(sizeof(Element));
    const auto kind = sizeof(Element) == 1 ? cudaChannelFormatKindUnsigned : cudaChannelFormatKindFloat;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc(
        bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 2 ? bits : 0, kind);
    const std::size_t row = side * channels * sizeof(Element);
    std::vector<unsigned char> texels(row * side * depth, 1);
    cudaResourceDesc resource{};
    if (line || pitched) {
        void* memory = nullptr;
        require(cudaMalloc(&memory, texels.size()));
        require(cudaMemcpy(memory, texels.data(), texels.size(), cudaMemcpyHostToDevice));
        if (line) {
            resource.resType = cudaResourceTypeLinear;
            resource.res.linear = {memory, format, row * side};
        } else {
            resource.resType = cudaResourceTypePitch2D;
            resource.res.pitch2D = {memory, format, side, side, row};
        }
    } else {
        cudaArray_t array = nullptr;
        unsigned flags = form == Form::surface2d ? cudaArraySurfaceLoadStore : 0;
        if (form == Form::gather2d) flags |= cudaArrayTextureGather;
        if (layered) flags |= cudaArrayLayered;
        if (deep || layered) {
            require(cudaMalloc3DArray(&array, &format, make_cudaExtent(side, side, depth), flags));
            cudaMemcpy3DParms copy{};
            copy.srcPtr = make_cudaPitchedPtr(texels.data(), row, side, side);
            copy.dstArray = array;
            copy.extent = make_cudaExtent(side, side, depth);
            copy.kind = cudaMemcpyHostToDevice;
            require(cudaMemcpy3D(&copy));
        } else {
            require(cudaMallocArray(&array, &format, side, side, flags));
            require(cudaMemcpy2DToArray(array, 0, 0, texels.data(), row, row, side, cudaMemcpyHostToDevice));
        }
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = array;
    }
    Texture made;
    if (form == Form::surface2d) {
        require(cudaCreateSurfaceObject(&made.surface, &resource));
        return made;
    }
    cudaTextureDesc how{};
    const bool linear =
        form == Form::linear2d || form == Form::pitched2d || form == Form::linear3d || layered;
    how.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
    how.readMode = normalized ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    for (auto& mode : how.addressMode) mode = cudaAddressModeClamp;
    require(cudaCreateTextureObject(&made.texture, &resource, &how, nullptr));
    return made;
}

template <Form form, class Texel>
__global__ void read_once(cudaTextureObject_t texture, cudaSurfaceObject_t surface, int x, int y,
                          float* out) {
    const bool second = threadIdx.x % 2 == 1;
    const float offset = form == Form::linear2d ? 0.75F : 0.5F;
    out[threadIdx.x] = read<form, Texel>(texture, surface, static_cast<float>(second ? x : 0) + offset,
                                         static_cast<float>(second ? y : 0) + offset);
}

template <Form form, class Texel, class Element>
void read_pairs(const char* name, const char* texel, int channels) {
    const Texture made = make<Element>(form, channels, sizeof(Element) == 1);
    float* out = nullptr;
    require(cudaMalloc(&out, 32 * sizeof(float)));
    const auto pair = [&](int x, int y) {
        read_once<form, Texel><<<1, 32>>>(made.texture, made.surface, x, y, out);
        require(cudaDeviceSynchronize());
        std::printf("%s,%s,%d,%d\n", name, texel, x, y);
    };
    for (const int x : {0, 1, 2, 3, 4, 7, 8, 15, 16, 31}) pair(x, 0);
    for (const int y : {1, 2, 3, 4, 7, 8, 15, 16}) pair(0, y);
}

template <Form form, class Texel, class Element>
void measure(const char* name, const char* texel, int channels) {
    const Texture made = make<Element>(form, channels, sizeof(Element) == 1);
    long long* cycles = nullptr;
    float *out = nullptr, *places = nullptr;
    require(cudaMalloc(&cycles, sizeof(long long)));
    require(cudaMalloc(&out, 1024 * sizeof(float)));
    require(cudaMalloc(&places, 256 * sizeof(float)));
    for (const std::string lanes :
         {"row", "column", "tile_8x4", "quads_2x2", "same", "every_second", "random_quads", "random"}) {
        std::vector<float> at;
        for (int i = 0; i < 4; ++i) {
            for (int lane = 0; lane < 32; ++lane) {
                auto [x, y] = place_of(lanes, i, lane);
                // Between texels, so that a filter mixes them.
                if (form == Form::fetch1d) x = y * side + x;
                at.push_back(x + (form == Form::fetch1d ? 0.0F : 0.75F));
                at.push_back(y + 0.75F);
            }
        }
        require(cudaMemcpy(places, at.data(), at.size() * sizeof(float), cudaMemcpyHostToDevice));
        for (const bool chained : {true, false}) {
            for (const int warps : {1, 4, 8, 32}) {
                if (chained && warps > 1) continue;
                for (int repeat = 0; repeat < 2; ++repeat) {
                    if (chained) {
                        reads<form, Texel, true>
                            <<<1, 32 * warps>>>(made.texture, made.surface, places, 0.0F, cycles, out);
                    } else {
                        reads<form, Texel, false>
                            <<<1, 32 * warps>>>(made.texture, made.surface, places, 0.0F, cycles, out);
                    }
                    require(cudaDeviceSynchronize());
                }
                long long took = 0;
                require(cudaMemcpy(&took, cycles, sizeof took, cudaMemcpyDeviceToHost));
                std::printf("%s,%s,%s,%d,%d,%.3f\n", name, texel, lanes.c_str(), warps, chained ? 1 : 0,
                            static_cast<double>(took) / (4.0 * rounds * warps));
            }
        }
    }
}

}  // namespace

int main(int arguments, char** argument) {
    if (arguments > 1 && std::strcmp(argument[1], "once") == 0) {
        std::printf("form,texel,x,y\n");
        read_pairs<Form::plain2d, float, float>("plain2d", "f32", 1);
        read_pairs<Form::linear2d, float, float>("linear2d", "f32", 1);
        read_pairs<Form::plain2d, float4, float>("plain2d", "f32x4", 4);
        read_pairs<Form::plain2d, float, unsigned char>("plain2d", "u8", 1);
        read_pairs<Form::pitched2d, float, float>("pitched2d", "f32", 1);
        read_pairs<Form::plain3d, float, float>("plain3d", "f32", 1);
        read_pairs<Form::surface2d, float, float>("surface2d", "f32", 1);
        return 0;
    }
    std::printf("form,texel,lanes,warps,chained,cycles\n");
    measure<Form::fetch1d, float, float>("fetch1d", "f32", 1);
    measure<Form::fetch1d, float2, float>("fetch1d", "f32x2", 2);
    measure<Form::fetch1d, float4, float>("fetch1d", "f32x4", 4);
    measure<Form::plain2d, float, float>("plain2d", "f32", 1);
    measure<Form::plain2d, float4, float>("plain2d", "f32x4", 4);
    measure<Form::plain2d, float, unsigned char>("plain2d", "u8", 1);
    measure<Form::linear2d, float, float>("linear2d", "f32", 1);
    measure<Form::linear2d, float2, float>("linear2d", "f32x2", 2);
    measure<Form::linear2d, float4, float>("linear2d", "f32x4", 4);
    measure<Form::linear2d, float, unsigned char>("linear2d", "u8", 1);
    measure<Form::linear2d, float4, unsigned char>("linear2d", "u8x4", 4);
    measure<Form::linear2d, float, __half>("linear2d", "f16", 1);
    measure<Form::linear2d, float4, __half>("linear2d", "f16x4", 4);
    measure<Form::pitched2d, float, float>("pitched2d", "f32", 1);
    measure<Form::pitched2d, float4, float>("pitched2d", "f32x4", 4);
    measure<Form::plain3d, float, float>("plain3d", "f32", 1);
    measure<Form::linear3d, float, float>("linear3d", "f32", 1);
    measure<Form::linear3d, float4, float>("linear3d", "f32x4", 4);
    measure<Form::linear3d, float, unsigned char>("linear3d", "u8", 1);
    measure<Form::layered2d, float, float>("layered2d", "f32", 1);
    measure<Form::gather2d, float4, float>("gather2d", "f32", 1);
    measure<Form::surface2d, float, float>("surface2d", "f32", 1);
    measure<Form::surface2d, float4, float>("surface2d", "f32x4", 4);
    return 0;
}
