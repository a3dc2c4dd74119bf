// Counts steps until a sequence escapes, for each point of a picture: loops of very different lengths
// side by side. With warps along rows and in square patches, with tests at every fourth step, with two
// points a thread, with patches taken from a counter, with lanes that take new points while others go
// on, and in integers.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int threads = 256, most_steps = 64;
constexpr int patch_width = 8, patch_height = 4;  // of a warp
constexpr int strip_size = 512;                   // points of a warp whose lanes take the next free one
constexpr unsigned all_lanes = 0xffffffffU;

struct Picture {
    int* steps;
    int width, height;
};

/// z -> z * z + c, from 0 on. All rounding is spelled out, so that host and device agree.
struct Sequence {
    float c_real, c_imaginary, real, imaginary;

    __host__ __device__ Sequence(const Picture& picture, int column, int row)
        : c_real(fmaf(static_cast<float>(column), 3.0F / static_cast<float>(picture.width), -2.1F)),
          c_imaginary(fmaf(static_cast<float>(row), 2.5F / static_cast<float>(picture.height), -1.2F)),
          real(0.0F),
          imaginary(0.0F) {}

    __host__ __device__ bool escaped() const {
        return fmaf(real, real, fmaf(imaginary, imaginary, -4.0F)) > 0.0F;
    }
    __host__ __device__ void step() {
        const float next = fmaf(real, real, fmaf(-imaginary, imaginary, c_real));
        imaginary = fmaf(real + real, imaginary, c_imaginary);
        real = next;
    }
    __host__ __device__ int count() {
        int steps = 0;
        while (steps < most_steps && !escaped()) {
            step();
            ++steps;
        }
        return steps;
    }
};

__global__ void along_rows(Picture picture) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (column < picture.width) {
        picture.steps[row * picture.width + column] = Sequence(picture, column, row).count();
    }
}

struct Place {
    int column, row;
};

/// The place of a lane's point; patches are counted along rows of patches.
__device__ Place place_in_patch(int patch, int width) {
    const int patches_in_row = (width + patch_width - 1) / patch_width, lane = threadIdx.x % 32;
    return {patch % patches_in_row * patch_width + lane % patch_width,
            patch / patches_in_row * patch_height + lane / patch_width};
}

/// Points near each other escape after about as many steps.
__global__ void square_patches(Picture picture) {
    const auto [column, row] = place_in_patch((blockIdx.x * blockDim.x + threadIdx.x) / 32, picture.width);
    if (column < picture.width && row < picture.height) {
        picture.steps[row * picture.width + column] = Sequence(picture, column, row).count();
    }
}

/// One test in four steps. The last four are done again one by one. What has escaped stays so: it grows until
/// it is infinite or not a number, which is tested as well.
__global__ void test_every_fourth(Picture picture) {
    static_assert(most_steps % 4 == 0);
    const auto [column, row] = place_in_patch((blockIdx.x * blockDim.x + threadIdx.x) / 32, picture.width);
    if (column >= picture.width || row >= picture.height) {
        return;
    }
    Sequence now(picture, column, row), before = now;
    int steps = 0;
    while (steps < most_steps) {
        before = now;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            now.step();
        }
        if (!(fmaf(now.real, now.real, fmaf(now.imaginary, now.imaginary, -4.0F)) <= 0.0F)) {
            while (!before.escaped() && steps < most_steps) {
                before.step();
                ++steps;
            }
            break;
        }
        steps += 4;
    }
    picture.steps[row * picture.width + column] = steps;
}

/// Two independent chains of instructions; points one row of patches apart.
__global__ void two_points(Picture picture) {
    const auto [column, patch_row] =
        place_in_patch((blockIdx.x * blockDim.x + threadIdx.x) / 32, picture.width);
    const int row = patch_row / patch_height * 2 * patch_height + patch_row % patch_height;
    const int other_row = row + patch_height;
    if (column >= picture.width || row >= picture.height) {
        return;
    }
    Sequence first(picture, column, row), second(picture, column, other_row);
    int first_steps = 0, second_steps = 0;
    bool first_going = true, second_going = true;
    for (int step = 0; step < most_steps && (first_going || second_going); ++step) {
        first_going = first_going && !first.escaped();
        second_going = second_going && !second.escaped();
        first.step();
        second.step();
        first_steps += first_going ? 1 : 0;
        second_steps += second_going ? 1 : 0;
    }
    picture.steps[row * picture.width + column] = first_steps;
    if (other_row < picture.height) {
        picture.steps[other_row * picture.width + column] = second_steps;
    }
}

/// As many warps as the chip holds; each takes the next patch when it is done with one.
__global__ void taken_patches(Picture picture, int patches, int* next_patch) {
    for (;;) {
        int patch = 0;
        if (threadIdx.x % 32 == 0) {
            patch = atomicAdd(next_patch, 1);
        }
        patch = __shfl_sync(all_lanes, patch, 0);
        if (patch >= patches) {
            return;
        }
        const auto [column, row] = place_in_patch(patch, picture.width);
        if (column < picture.width && row < picture.height) {
            picture.steps[row * picture.width + column] = Sequence(picture, column, row).count();
        }
        __syncwarp();
    }
}

/// Each warp owns a strip of points. When a quarter of the lanes are free, they take the next points of the
/// strip, so that few lanes wait for the slowest.
__global__ void refilled_lanes(Picture picture) {
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * strip_size;
    const int end = min(first + strip_size, picture.width * picture.height);
    const unsigned lower_lanes = (1U << threadIdx.x % 32) - 1;
    int own = first + threadIdx.x % 32, next = first + 32, steps = 0;
    Sequence sequence(picture, own % picture.width, own / picture.width);
    while (const int taken = __popc(__ballot_sync(all_lanes, own < end))) {
        bool going = own < end && steps < most_steps && !sequence.escaped();
        while (__popc(__ballot_sync(all_lanes, going)) * 4 > taken * 3) {
            if (going) {
                sequence.step();
                ++steps;
                going = steps < most_steps && !sequence.escaped();
            }
        }
        const bool finished = own < end && !going;
        const unsigned free_lanes = __ballot_sync(all_lanes, finished);
        if (finished) {
            picture.steps[own] = steps;
            own = next + __popc(free_lanes & lower_lanes);
            sequence = Sequence(picture, own % picture.width, own / picture.width);
            steps = 0;
        }
        next += __popc(free_lanes);
    }
}

/// Numbers are multiples of 2^-28, and products of 2^-56.
__host__ __device__ int count_in_integers(const Picture& picture, int column, int row) {
    using Wide = long long;
    constexpr int fraction_bits = 28;
    constexpr Wide one = Wide{1} << fraction_bits;
    const Wide c_real = 3 * one / picture.width * column - 21 * one / 10;
    const Wide c_imaginary = 5 * one / 2 / picture.height * row - 12 * one / 10;
    int real = 0, imaginary = 0, steps = 0;
    while (steps < most_steps) {
        const Wide real_square = static_cast<Wide>(real) * real;
        const Wide imaginary_square = static_cast<Wide>(imaginary) * imaginary;
        if (real_square + imaginary_square > 4 * one * one) {
            break;
        }
        imaginary =
            static_cast<int>((static_cast<Wide>(real) * imaginary >> (fraction_bits - 1)) + c_imaginary);
        real = static_cast<int>(((real_square - imaginary_square) >> fraction_bits) + c_real);
        ++steps;
    }
    return steps;
}

__global__ void in_integers(Picture picture) {
    const auto [column, row] = place_in_patch((blockIdx.x * blockDim.x + threadIdx.x) / 32, picture.width);
    if (column < picture.width && row < picture.height) {
        picture.steps[row * picture.width + column] = count_in_integers(picture, column, row);
    }
}

void body() {
    struct Case {
        int width, height;
    };
    for (const auto& [width, height] : {Case{301, 203}, Case{900, 603}}) {
        const bool small = width < 500;
        Array<int> steps(width * height), next_patch(1);
        const Picture picture{steps.data(), width, height};
        std::vector<int> expected(width * height), expected_in_integers(width * height);
        for (int i = 0; i < width * height; ++i) {
            expected[i] = Sequence(picture, i % width, i / width).count();
            expected_in_integers[i] = count_in_integers(picture, i % width, i / width);
        }
        const auto verify = [&](const char* what, const std::vector<int>& right) {
            finish(what);
            const auto found = steps.values();
            check(found == right, what);
            output(what, found);
            steps.zero();
        };
        const int patch_rows = (height + patch_height - 1) / patch_height;
        const int patches_in_row = (width + patch_width - 1) / patch_width;
        const int patches = patch_rows * patches_in_row;
        const auto blocks_of_warps = [](int warps) { return (warps * 32 + threads - 1) / threads; };
        prepare();
        along_rows<<<dim3((width + threads - 1) / threads, height), threads>>>(picture);
        verify("along_rows", expected);
        prepare();
        square_patches<<<blocks_of_warps(patches), threads>>>(picture);
        verify("square_patches", expected);
        prepare();
        test_every_fourth<<<blocks_of_warps(patches), threads>>>(picture);
        verify("test_every_fourth", expected);
        prepare();
        two_points<<<blocks_of_warps((patch_rows + 1) / 2 * patches_in_row), threads>>>(picture);
        verify("two_points", expected);
        prepare();
        taken_patches<<<small ? 33 : 1056, threads>>>(picture, patches, next_patch.data());
        verify("taken_patches", expected);
        prepare();
        refilled_lanes<<<blocks_of_warps((width * height + strip_size - 1) / strip_size), threads>>>(picture);
        verify("refilled_lanes", expected);
        prepare();
        in_integers<<<blocks_of_warps(patches), threads>>>(picture);
        verify("in_integers", expected_in_integers);
    }
}

int main() {
    return run(body);
}
