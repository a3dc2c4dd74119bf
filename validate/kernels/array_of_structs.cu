// Moves particles that are stored as an array of structures, as structures of two float4, as one array a
// field, and in blocks of 32 particles.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

struct Particle {
    float position[3];
    float velocity[3];
    float mass;
};

/// The same in two words of 16 bytes: position and mass, velocity and nothing.
struct AlignedParticle {
    float4 position_mass;
    float4 velocity;
};

/// 32 particles, field by field.
struct ParticleBlock {
    float position[3][32];
    float velocity[3][32];
    float mass[32];
};

__global__ void move_structures(Particle* particles, int count, float time) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        for (int axis = 0; axis < 3; ++axis) {
            particles[i].position[axis] += particles[i].velocity[axis] * time;
        }
    }
}

__global__ void move_aligned_structures(AlignedParticle* particles, int count, float time) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        float4 position = particles[i].position_mass;
        const float4 velocity = particles[i].velocity;
        position.x += velocity.x * time;
        position.y += velocity.y * time;
        position.z += velocity.z * time;
        particles[i].position_mass = position;
    }
}

/// Position and velocity hold all x, then all y, then all z.
__global__ void move_arrays(float* position, const float* velocity, int count, float time) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        for (int axis = 0; axis < 3; ++axis) {
            position[axis * count + i] += velocity[axis * count + i] * time;
        }
    }
}

__global__ void move_blocks(ParticleBlock* blocks, int count, float time) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        ParticleBlock& block = blocks[i / 32];
        for (int axis = 0; axis < 3; ++axis) {
            block.position[axis][i % 32] += block.velocity[axis][i % 32] * time;
        }
    }
}

/// Uses two of seven fields, but fetches the sectors of all.
__global__ void momentum_structures(const Particle* particles, float* momentum, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        momentum[i] = particles[i].mass * particles[i].velocity[0];
    }
}

__global__ void momentum_arrays(const float* velocity, const float* mass, float* momentum, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        momentum[i] = mass[i] * velocity[i];
    }
}

void body() {
    constexpr float time = 0.125F;
    for (const int count : {50001, (1 << 21) + 31}) {
        const auto position = random_values<float>(count * 3, 1),
                   velocity = random_values<float>(count * 3, 2);
        const auto mass = random_values<float>(count, 3);
        std::vector<Particle> structures(count);
        std::vector<AlignedParticle> aligned(count);
        std::vector<ParticleBlock> blocked((count + 31) / 32);
        for (int i = 0; i < count; ++i) {
            ParticleBlock& block = blocked[i / 32];
            for (int axis = 0; axis < 3; ++axis) {
                structures[i].position[axis] = block.position[axis][i % 32] = position[axis * count + i];
                structures[i].velocity[axis] = block.velocity[axis][i % 32] = velocity[axis * count + i];
            }
            structures[i].mass = block.mass[i % 32] = mass[i];
            aligned[i].position_mass =
                make_float4(position[i], position[count + i], position[2 * count + i], mass[i]);
            aligned[i].velocity =
                make_float4(velocity[i], velocity[count + i], velocity[2 * count + i], 0.0F);
        }
        const int blocks = (count + 255) / 256;
        std::vector<double> expected(count * 3);
        for (int i = 0; i < count * 3; ++i) {
            expected[i] = position[i] + static_cast<double>(velocity[i]) * time;
        }
        std::vector<float> moved(count * 3);
        const auto verify = [&](const char* what) {
            check_close(moved, expected, 1e-6, what);
            output(what, moved);
        };

        const Array<Particle> structures_array(structures);
        const Array<float> velocity_array(velocity), mass_array(mass);
        Array<float> momentum(count);
        prepare();
        momentum_structures<<<blocks, 256>>>(structures_array.data(), momentum.data(), count);
        finish("momentum_structures");
        const auto from_structures = momentum.values();
        output("momentum_structures", from_structures);
        momentum.zero();
        prepare();
        momentum_arrays<<<blocks, 256>>>(velocity_array.data(), mass_array.data(), momentum.data(), count);
        finish("momentum_arrays");
        const auto from_arrays = momentum.values();
        output("momentum_arrays", from_arrays);
        for (int i = 0; i < count; ++i) {
            const float product = mass[i] * velocity[i];
            check(from_structures[i] == product && from_arrays[i] == product, "momentum");
        }

        prepare();
        move_structures<<<blocks, 256>>>(structures_array.data(), count, time);
        finish("move_structures");
        structures = structures_array.values();
        for (int i = 0; i < count * 3; ++i) {
            moved[i] = structures[i % count].position[i / count];
        }
        verify("move_structures");

        const Array<AlignedParticle> aligned_array(aligned);
        prepare();
        move_aligned_structures<<<blocks, 256>>>(aligned_array.data(), count, time);
        finish("move_aligned_structures");
        aligned = aligned_array.values();
        for (int i = 0; i < count; ++i) {
            moved[i] = aligned[i].position_mass.x;
            moved[count + i] = aligned[i].position_mass.y;
            moved[2 * count + i] = aligned[i].position_mass.z;
        }
        verify("move_aligned_structures");

        const Array<float> position_array(position);
        prepare();
        move_arrays<<<blocks, 256>>>(position_array.data(), velocity_array.data(), count, time);
        finish("move_arrays");
        moved = position_array.values();
        verify("move_arrays");

        const Array<ParticleBlock> blocked_array(blocked);
        prepare();
        move_blocks<<<blocks, 256>>>(blocked_array.data(), count, time);
        finish("move_blocks");
        blocked = blocked_array.values();
        for (int i = 0; i < count * 3; ++i) {
            moved[i] = blocked[i % count / 32].position[i / count][i % count % 32];
        }
        verify("move_blocks");
    }
}

int main() {
    return run(body);
}
