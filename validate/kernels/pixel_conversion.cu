// Converts pictures: interleaved bytes of three and four colours to grey and to separate planes of floats,
// planes back to bytes, and resizes by the four nearest pixels.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

using Byte = unsigned char;

__global__ void grey_of_three(const Byte* picture, Byte* grey, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        grey[i] = static_cast<Byte>(
            (77 * picture[3 * i] + 150 * picture[3 * i + 1] + 29 * picture[3 * i + 2]) >> 8);
    }
}

__global__ void grey_of_four(const uchar4* picture, Byte* grey, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        const uchar4 pixel = picture[i];
        grey[i] = static_cast<Byte>((77 * pixel.x + 150 * pixel.y + 29 * pixel.z) >> 8);
    }
}

__global__ void planes_of_three(const Byte* picture, float* planes, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        for (int colour = 0; colour < 3; ++colour) {
            planes[colour * count + i] = picture[3 * i + colour] * (1.0F / 256.0F) - 0.5F;
        }
    }
}

__global__ void three_of_planes(const float* planes, Byte* picture, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        for (int colour = 0; colour < 3; ++colour) {
            picture[3 * i + colour] = static_cast<Byte>((planes[colour * count + i] + 0.5F) * 256.0F);
        }
    }
}

__global__ void resize(const float* from, float* to, int width, int height, int new_width, int new_height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= new_width || y >= new_height) return;
    const float u = (x + 0.5F) * width / new_width - 0.5F, v = (y + 0.5F) * height / new_height - 0.5F;
    const int left = max(0, static_cast<int>(floorf(u))), top = max(0, static_cast<int>(floorf(v)));
    const int right = min(left + 1, width - 1), bottom = min(top + 1, height - 1);
    const float a = u - left, b = v - top;
    to[y * new_width + x] = (1 - b) * ((1 - a) * from[top * width + left] + a * from[top * width + right]) +
                            b * ((1 - a) * from[bottom * width + left] + a * from[bottom * width + right]);
}

__global__ void resize_bytes(const Byte* from, Byte* to, int width, int height, int new_width,
                             int new_height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= new_width || y >= new_height) return;
    const float u = static_cast<float>(x) * width / new_width,
                v = static_cast<float>(y) * height / new_height;
    const int left = static_cast<int>(u), top = static_cast<int>(v);
    const int right = min(left + 1, width - 1), bottom = min(top + 1, height - 1);
    const float a = u - left, b = v - top;
    for (int colour = 0; colour < 3; ++colour) {
        const float above =
            (1 - a) * from[(top * width + left) * 3 + colour] + a * from[(top * width + right) * 3 + colour];
        const float below = (1 - a) * from[(bottom * width + left) * 3 + colour] +
                            a * from[(bottom * width + right) * 3 + colour];
        to[(y * new_width + x) * 3 + colour] = static_cast<Byte>((1 - b) * above + b * below);
    }
}

void body() {
    for (const auto& [width, height] : {std::pair{640, 480}, std::pair{1920, 1080}}) {
        const int count = width * height;
        const auto bytes = random_values<Byte>(static_cast<std::size_t>(count) * 4, width);
        const auto floats = random_values<float>(count, width);
        const Array<Byte> picture(bytes);
        const Array<float> from(floats);
        Array<Byte> grey(count), back(static_cast<std::size_t>(count) * 3);
        Array<float> planes(static_cast<std::size_t>(count) * 3);
        const int blocks = (count + 255) / 256;
        prepare();
        grey_of_three<<<blocks, 256>>>(picture.data(), grey.data(), count);
        finish("grey of three");
        output("grey_of_three", grey);
        prepare();
        grey_of_four<<<blocks, 256>>>(reinterpret_cast<const uchar4*>(picture.data()), grey.data(), count);
        finish("grey of four");
        output("grey_of_four", grey);
        prepare();
        planes_of_three<<<blocks, 256>>>(picture.data(), planes.data(), count);
        finish("planes");
        output("planes", planes);
        prepare();
        three_of_planes<<<blocks, 256>>>(planes.data(), back.data(), count);
        finish("back");
        const auto again = back.values();
        check(std::equal(again.begin(), again.end(), bytes.begin()), "back");
        for (const auto& [new_width, new_height] : {std::pair{224, 224}, std::pair{1280, 720}}) {
            const dim3 block(32, 8), grid((new_width + 31) / 32, (new_height + 7) / 8);
            Array<float> to(new_width * new_height);
            Array<Byte> small(static_cast<std::size_t>(new_width) * new_height * 3);
            prepare();
            resize<<<grid, block>>>(from.data(), to.data(), width, height, new_width, new_height);
            finish("resize");
            output("resize", to);
            prepare();
            resize_bytes<<<grid, block>>>(picture.data(), small.data(), width, height, new_width, new_height);
            finish("resize bytes");
            output("resize_bytes", small);
        }
    }
}

int main() {
    return run(body);
}
