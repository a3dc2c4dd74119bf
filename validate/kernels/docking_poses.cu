// Energies of a molecule in many poses before a protein: some poses a thread against all atoms in shared or
// constant memory, from maps of the grid, by a block a pose; atoms under Lennard-Jones forces from lists of
// neighbours; and the best pose by reductions.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int ligand_atoms = 26, kinds = 16, constant_atoms = 700;
constexpr float hard = 38.0F, no_charge_beyond = 5.5F;

struct Atom {
    float x, y, z;
    int kind;
};
/// Of a kind: how wide, how water-loving, and charged; `bonds` 1 gives, 2 takes, 0 none.
struct Kind {
    float radius, affinity, charge;
    int bonds;
};

__constant__ Atom ligand_constant[ligand_atoms];
__constant__ Kind kinds_constant[kinds];
__constant__ Atom protein_constant[constant_atoms];

/// Three turns and a shift, as a matrix of three rows.
struct Pose {
    float row[3][4];
};
__host__ __device__ inline Pose make_pose(const float (&p)[6]) {
    const float sx = sinf(p[0]), cx = cosf(p[0]), sy = sinf(p[1]), cy = cosf(p[1]), sz = sinf(p[2]),
                cz = cosf(p[2]);
    return {{{cy * cz, sx * sy * cz - cx * sz, cx * sy * cz + sx * sz, p[3]},
             {cy * sz, sx * sy * sz + cx * cz, cx * sy * sz - sx * cz, p[4]},
             {-sy, sx * cy, cx * cy, p[5]}}};
}
__host__ __device__ inline float3 moved(const Pose& pose, float x, float y, float z) {
    return {pose.row[0][3] + x * pose.row[0][0] + y * pose.row[0][1] + z * pose.row[0][2],
            pose.row[1][3] + x * pose.row[1][0] + y * pose.row[1][1] + z * pose.row[1][2],
            pose.row[2][3] + x * pose.row[2][0] + y * pose.row[2][1] + z * pose.row[2][2]};
}
__host__ __device__ inline float distance_of(float3 a, const Atom& b) {
    const float dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z;
    return sqrtf(dx * dx + dy * dy + dz * dz);
}
/// Energy of a pair: a hard core, a hydrophobic slope, and charges that end at a distance or bond.
__host__ __device__ inline float pair_energy(float distance, const Kind& a, const Kind& b) {
    const float reach = a.radius + b.radius, gap = distance - reach;
    float energy = 0.0F;
    if (gap < 0.0F) energy += (1.0F - distance / reach) * 2.0F * hard;
    const bool both_charged = a.bonds != 0 && b.bonds != 0;
    const float end = both_charged ? 4.0F : 2.0F;
    if (gap < end && (a.affinity < 0.0F || b.affinity < 0.0F)) {
        const float slope = gap < 0.0F ? 1.0F : 1.0F - gap / end;
        energy += slope * (a.affinity + b.affinity);
    }
    if (distance < no_charge_beyond) {
        float charge = a.charge * b.charge * (1.0F - distance / no_charge_beyond);
        if (a.bonds + b.bonds == 3 && both_charged) charge = -fabsf(charge) * 1.5F;
        energy += charge;
    }
    return energy;
}

/// `poses` poses a thread; protein atoms pass through shared memory in tiles of the block.
template <int poses>
__global__ void __launch_bounds__(128)
    dock_shared(const Atom* __restrict__ protein, const float* __restrict__ turns,
                float* __restrict__ energies, int atoms, int count) {
    __shared__ Atom tile[128];
    __shared__ Kind kinds_shared[kinds];
    if (threadIdx.x < kinds) kinds_shared[threadIdx.x] = kinds_constant[threadIdx.x];
    const int first = blockIdx.x * 128 * poses + threadIdx.x;
    Pose own[poses];
    float sums[poses] = {};
#pragma unroll
    for (int p = 0; p < poses; ++p) {
        const int at = min(first + p * 128, count - 1);
        float six[6];
        for (int k = 0; k < 6; ++k) six[k] = turns[k * count + at];
        own[p] = make_pose(six);
    }
    for (int start = 0; start < atoms; start += 128) {
        __syncthreads();
        if (start + threadIdx.x < atoms) tile[threadIdx.x] = protein[start + threadIdx.x];
        __syncthreads();
        const int end = min(128, atoms - start);
        for (int l = 0; l < ligand_atoms; ++l) {
            const Atom atom = ligand_constant[l];
            const Kind kind = kinds_constant[atom.kind];
            float3 places[poses];
#pragma unroll
            for (int p = 0; p < poses; ++p) places[p] = moved(own[p], atom.x, atom.y, atom.z);
            for (int k = 0; k < end; ++k) {
                const Atom other = tile[k];
                const Kind other_kind = kinds_shared[other.kind];
#pragma unroll
                for (int p = 0; p < poses; ++p)
                    sums[p] += pair_energy(distance_of(places[p], other), kind, other_kind);
            }
        }
    }
#pragma unroll
    for (int p = 0; p < poses; ++p)
        if (first + p * 128 < count) energies[first + p * 128] = 0.5F * sums[p];
}

/// A pose a thread; all that is alike for all threads lies in constant memory.
__global__ void __launch_bounds__(64)
    dock_constant(const float* turns, float* energies, int atoms, int count) {
    const int at = blockIdx.x * 64 + threadIdx.x;
    if (at >= count) return;
    float six[6];
    for (int k = 0; k < 6; ++k) six[k] = turns[k * count + at];
    const Pose pose = make_pose(six);
    float sum = 0.0F;
    for (int l = 0; l < ligand_atoms; ++l) {
        const Atom atom = ligand_constant[l];
        const float3 place = moved(pose, atom.x, atom.y, atom.z);
#pragma unroll 2
        for (int k = 0; k < atoms; ++k)
            sum += pair_energy(distance_of(place, protein_constant[k]), kinds_constant[atom.kind],
                               kinds_constant[protein_constant[k].kind]);
    }
    energies[at] = 0.5F * sum;
}

/// A block a pose: threads take protein atoms; far ones are left out before the square root.
__global__ void __launch_bounds__(128)
    dock_blocks(const Atom* protein, const float* turns, float* energies, int atoms, int count) {
    __shared__ float3 places[ligand_atoms];
    __shared__ float parts[4];
    if (threadIdx.x < ligand_atoms) {
        float six[6];
        for (int k = 0; k < 6; ++k) six[k] = turns[k * count + blockIdx.x];
        const Atom atom = ligand_constant[threadIdx.x];
        places[threadIdx.x] = moved(make_pose(six), atom.x, atom.y, atom.z);
    }
    __syncthreads();
    float sum = 0.0F;
    for (int k = threadIdx.x; k < atoms; k += 128) {
        const Atom other = protein[k];
        const Kind kind = kinds_constant[other.kind];
        for (int l = 0; l < ligand_atoms; ++l) {
            const float dx = places[l].x - other.x, dy = places[l].y - other.y, dz = places[l].z - other.z;
            const float square = dx * dx + dy * dy + dz * dz;
            if (square > 81.0F) continue;
            sum += pair_energy(sqrtf(square), kinds_constant[ligand_constant[l].kind], kind);
        }
    }
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffU, sum, step);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) energies[blockIdx.x] = 0.5F * (parts[0] + parts[1] + parts[2] + parts[3]);
}

/// Energies read from maps that were made before, one for each class of atoms, between eight points each.
__global__ void __launch_bounds__(256) dock_maps(const float* __restrict__ maps, const float* turns,
                                                 float* energies, int side, float spacing, int count) {
    const int at = blockIdx.x * 256 + threadIdx.x;
    if (at >= count) return;
    float six[6];
    for (int k = 0; k < 6; ++k) six[k] = turns[k * count + at];
    const Pose pose = make_pose(six);
    const float half = 0.5F * spacing * (side - 1);
    float sum = 0.0F;
    for (int l = 0; l < ligand_atoms; ++l) {
        const Atom atom = ligand_constant[l];
        const float3 place = moved(pose, atom.x, atom.y, atom.z);
        const float x = (place.x + half) / spacing, y = (place.y + half) / spacing,
                    z = (place.z + half) / spacing;
        if (x < 0.0F || y < 0.0F || z < 0.0F || x >= side - 1 || y >= side - 1 || z >= side - 1) {
            sum += 10.0F;
            continue;
        }
        const int ix = static_cast<int>(x), iy = static_cast<int>(y), iz = static_cast<int>(z);
        const float fx = x - ix, fy = y - iy, fz = z - iz;
        const float* cell =
            maps + ((static_cast<std::size_t>(atom.kind % 4) * side + iz) * side + iy) * side + ix;
        const auto across = [&](int dy, int dz) {
            const float* row = cell + (dz * side + dy) * side;
            return row[0] + fx * (row[1] - row[0]);
        };
        const float near = across(0, 0) + fy * (across(1, 0) - across(0, 0));
        const float far = across(0, 1) + fy * (across(1, 1) - across(0, 1));
        sum += near + fz * (far - near);
    }
    energies[at] = sum;
}

/// Lennard-Jones energy and force of each atom from its list; lists lie side by side for neighbouring
/// threads.
template <class T, class Vector>
__global__ void __launch_bounds__(128)
    lennard_jones(const Vector* __restrict__ places, const int* __restrict__ lists,
                  const int* __restrict__ lengths, Vector* __restrict__ forces, T cutoff_square, T shift,
                  T side, int atoms) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= atoms) return;
    const Vector own = places[i];
    T fx = 0, fy = 0, fz = 0, energy = 0;
    const int length = lengths[i];
    for (int k = 0; k < length; ++k) {
        const Vector other = places[lists[static_cast<std::size_t>(k) * atoms + i]];
        T dx = own.x - other.x, dy = own.y - other.y, dz = own.z - other.z;
        dx -= side * rint(dx / side);
        dy -= side * rint(dy / side);
        dz -= side * rint(dz / side);
        const T square = dx * dx + dy * dy + dz * dz;
        if (square < cutoff_square) {
            const T inverse = T(1) / square, sixth = inverse * inverse * inverse;
            const T force = T(24) * inverse * sixth * (T(2) * sixth - T(1));
            energy += T(4) * sixth * (sixth - T(1)) - shift;
            fx += force * dx;
            fy += force * dy;
            fz += force * dz;
        }
    }
    forces[i] = {fx, fy, fz, energy};
}

/// Smallest energy and its pose: by 64-bit keys that keep the order of floats.
__device__ inline unsigned long long key_of(float energy, unsigned pose) {
    const unsigned bits = __float_as_uint(energy);
    const unsigned ordered = (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
    return static_cast<unsigned long long>(ordered) << 32 | pose;
}
__global__ void __launch_bounds__(256)
    best_by_atomics(const float* energies, unsigned long long* best, int count) {
    unsigned long long least = ~0ULL;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < count; i += gridDim.x * 256)
        least = min(least, key_of(energies[i], i));
    for (int step = 16; step > 0; step /= 2) least = min(least, __shfl_xor_sync(0xffffffffU, least, step));
    if (threadIdx.x % 32 == 0) atomicMin(best, least);
}

struct Molecules {
    std::vector<Atom> ligand, protein;
    std::vector<Kind> kinds;
    std::vector<float> turns;
    int count;
    double energy(int pose, int atoms) const {
        float six[6];
        for (int k = 0; k < 6; ++k) six[k] = turns[static_cast<std::size_t>(k) * count + pose];
        const Pose own = make_pose(six);
        double sum = 0.0;
        for (const Atom& atom : ligand)
            for (int k = 0; k < atoms; ++k)
                sum += pair_energy(distance_of(moved(own, atom.x, atom.y, atom.z), protein[k]),
                                   kinds[atom.kind], kinds[protein[k].kind]);
        return 0.5 * sum;
    }
};

Molecules make_molecules(int atoms, int count) {
    Molecules all{{}, {}, {}, std::vector<float>(static_cast<std::size_t>(count) * 6), count};
    for (int l = 0; l < ligand_atoms; ++l)
        all.ligand.push_back({4.0F * random_float(1, l), 3.0F * random_float(2, l), 2.0F * random_float(3, l),
                              static_cast<int>(random_bits(4, l) % kinds)});
    for (int k = 0; k < atoms; ++k)
        all.protein.push_back({16.0F * random_float(5, k), 16.0F * random_float(6, k),
                               12.0F * random_float(7, k), static_cast<int>(random_bits(8, k) % kinds)});
    for (int k = 0; k < kinds; ++k)
        all.kinds.push_back({1.2F + 0.4F * random_float(9, k), k % 3 == 0 ? -0.5F : 0.1F * k,
                             random_float(10, k), static_cast<int>(random_bits(11, k) % 3)});
    for (int i = 0; i < count; ++i)
        for (int k = 0; k < 6; ++k)
            all.turns[static_cast<std::size_t>(k) * count + i] =
                random_float(12 + k, i) * (k < 3    ? 3.14159265F
                                           : k == 5 ? 5.0F
                                                    : 8.0F);
    require(cudaMemcpyToSymbol(ligand_constant, all.ligand.data(), sizeof(ligand_constant)), "ligand");
    require(cudaMemcpyToSymbol(kinds_constant, all.kinds.data(), sizeof(kinds_constant)), "kinds");
    require(cudaMemcpyToSymbol(protein_constant, all.protein.data(),
                               sizeof(Atom) * std::min(atoms, constant_atoms)),
            "protein");
    return all;
}

void check_poses(const Molecules& all, const Array<float>& energies, int atoms, const char* what) {
    const auto got = energies.values();
    for (int pose = 0; pose < all.count; pose += all.count / 100 + 1) {
        const double expected = all.energy(pose, atoms);
        check(std::fabs(got[pose] - expected) < 2e-3 * (1.0 + std::fabs(expected)), what);
    }
    output(what, got);
}

template <int poses>
void dock(const char* name, int atoms, int count) {
    const auto all = make_molecules(atoms, count);
    const Array<Atom> protein(all.protein);
    const Array<float> turns(all.turns), energies(count);
    prepare();
    dock_shared<poses><<<(count + 128 * poses - 1) / (128 * poses), 128>>>(protein.data(), turns.data(),
                                                                           energies.data(), atoms, count);
    finish(name);
    check_poses(all, energies, atoms, name);
}

void dock_otherwise() {
    const int atoms = 400, count = 16'384;
    const auto all = make_molecules(atoms, count);
    const Array<float> turns(all.turns), energies(count);
    prepare();
    dock_constant<<<count / 64, 64>>>(turns.data(), energies.data(), atoms, count);
    finish("dock constant");
    check_poses(all, energies, atoms, "dock_constant");

    const int many_atoms = 3'100, few = 2'000;
    const auto large = make_molecules(many_atoms, few);
    const Array<Atom> protein(large.protein);
    const Array<float> large_turns(large.turns), large_energies(few);
    prepare();
    dock_blocks<<<few, 128>>>(protein.data(), large_turns.data(), large_energies.data(), many_atoms, few);
    finish("dock blocks");
    // What lies beyond nine has no energy: neither charge nor slope reaches so far.
    check_poses(large, large_energies, many_atoms, "dock_blocks");

    const int side = 72, places = 400'001;
    const auto maps = random_values<float>(static_cast<std::size_t>(4) * side * side * side, 30);
    const auto spread = make_molecules(10, places);
    const Array<float> map_array(maps), place_turns(spread.turns), place_energies(places);
    prepare();
    dock_maps<<<(places + 255) / 256, 256>>>(map_array.data(), place_turns.data(), place_energies.data(),
                                             side, 0.375F, places);
    finish("dock maps");
    output("dock_maps", place_energies);
    const Array<unsigned long long> best(std::vector<unsigned long long>{~0ULL});
    prepare();
    best_by_atomics<<<132, 256>>>(place_energies.data(), best.data(), places);
    finish("best pose");
    const auto got = place_energies.values();
    const auto least = std::min_element(got.begin(), got.end()) - got.begin();
    check(static_cast<std::ptrdiff_t>(best.values()[0] & 0xffffffffU) == least, "best pose");
}

/// Atoms about the points of a cubic lattice, and for each those within a reach, at most `most`.
struct Liquid {
    std::vector<double> places;
    std::vector<int> lists, lengths;
    int atoms;
    double side;
};
Liquid make_liquid(int cells, double spacing, double reach, int most) {
    Liquid liquid{{}, {}, {}, cells * cells * cells, cells * spacing};
    const int atoms = liquid.atoms;
    for (int i = 0; i < atoms; ++i)
        for (int d = 0; d < 3; ++d) {
            const int cell = d == 0 ? i % cells : d == 1 ? i / cells % cells : i / cells / cells;
            liquid.places.push_back((cell + 0.5 + 0.1 * random_float(40 + d, i)) * spacing);
        }
    liquid.lists.resize(static_cast<std::size_t>(most) * atoms);
    liquid.lengths.resize(atoms);
    const int steps = static_cast<int>(reach / spacing + 0.2) + 1;
    for (int i = 0; i < atoms; ++i) {
        const int x = i % cells, y = i / cells % cells, z = i / cells / cells;
        int& length = liquid.lengths[i];
        for (int dz = -steps; dz <= steps; ++dz)
            for (int dy = -steps; dy <= steps; ++dy)
                for (int dx = -steps; dx <= steps; ++dx) {
                    const int j = ((z + dz + cells) % cells * cells + (y + dy + cells) % cells) * cells +
                                  (x + dx + cells) % cells;
                    double square = 0.0;
                    for (int d = 0; d < 3; ++d) {
                        double apart = liquid.places[3 * i + d] - liquid.places[3 * j + d];
                        apart -= liquid.side * std::rint(apart / liquid.side);
                        square += apart * apart;
                    }
                    if (j != i && square < reach * reach && length < most)
                        liquid.lists[static_cast<std::size_t>(length++) * atoms + i] = j;
                }
    }
    return liquid;
}

template <class T, class Vector>
void forces(const char* name, const Liquid& liquid, int threads, T cutoff, double tolerance) {
    const int atoms = liquid.atoms;
    std::vector<Vector> places(atoms);
    for (int i = 0; i < atoms; ++i)
        places[i] = {static_cast<T>(liquid.places[3 * i]), static_cast<T>(liquid.places[3 * i + 1]),
                     static_cast<T>(liquid.places[3 * i + 2]), T(0)};
    const Array<Vector> place_array(places), force_array(atoms);
    const Array<int> lists(liquid.lists), lengths(liquid.lengths);
    const double cutoff_sixth = std::pow(static_cast<double>(cutoff), -6.0);
    const double shift = 4.0 * cutoff_sixth * (cutoff_sixth - 1.0);
    prepare();
    lennard_jones<T, Vector><<<(atoms + threads - 1) / threads, threads>>>(
        place_array.data(), lists.data(), lengths.data(), force_array.data(), cutoff * cutoff,
        static_cast<T>(shift), static_cast<T>(liquid.side), atoms);
    finish(name);
    const auto got = force_array.values();
    std::vector<T> energies(atoms);
    for (int i = 0; i < atoms; ++i) energies[i] = got[i].w;
    for (int i = 0; i < atoms; i += 53) {
        double energy = 0.0, force = 0.0;
        for (int k = 0; k < liquid.lengths[i]; ++k) {
            const int j = liquid.lists[static_cast<std::size_t>(k) * atoms + i];
            double square = 0.0, along = 0.0;
            for (int d = 0; d < 3; ++d) {
                double apart = liquid.places[3 * i + d] - liquid.places[3 * j + d];
                apart -= liquid.side * std::rint(apart / liquid.side);
                if (d == 0) along = apart;
                square += apart * apart;
            }
            if (square >= static_cast<double>(cutoff) * cutoff) continue;
            const double sixth = 1.0 / (square * square * square);
            energy += 4.0 * sixth * (sixth - 1.0) - shift;
            force += 24.0 / square * sixth * (2.0 * sixth - 1.0) * along;
        }
        check(std::fabs(got[i].w - energy) < tolerance * 10.0, name);
        check(std::fabs(got[i].x - force) < tolerance * 100.0, name);
    }
    output(name, energies);
}

void body() {
    dock<1>("dock_one_pose", 200, 33'000);
    dock<2>("dock_two_poses", 400, 20'001);
    dock<4>("dock_four_poses", 311, 30'000);
    dock<2>("dock_few", 938, 6'000);
    dock_otherwise();
    forces<float, float4>("forces_float", make_liquid(56, 1.1, 2.8, 96), 128, 2.5F, 1e-3);
    forces<double, double4_32a>("forces_double", make_liquid(44, 1.1, 2.8, 96), 96, 2.5, 1e-7);
}

int main() {
    return run(body);
}
