// Macroscopic cross sections of neutrons for energies and materials: found by binary search in each nuclide's
// grid, by a grid of all energies together, and by hashed energies, for events in any order and sorted ones,
// by threads and by warps; and from poles of windows by complex arithmetic.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int materials = 12;

/// A grid point: energy and five cross sections (total, elastic, absorption, fission, fission neutrons).
template <class T>
struct Point {
    T energy;
    T values[5];
};

/// What the materials are made of: nuclides and their densities, `most` places a material.
struct Materials {
    const int* sizes;
    const int* nuclides;
    const double* densities;
    int most;
};
struct Event {
    double energy;
    int material;
    int from;
};

/// A linear congruential sequence whose place k is reached in steps of the logarithm of k.
__host__ __device__ inline std::uint64_t sequence_at(std::uint64_t k) {
    std::uint64_t multiplier = 2806196910506780709ULL, increment = 1, total_multiplier = 1,
                  total_increment = 0;
    for (; k > 0; k >>= 1) {
        if ((k & 1) != 0) {
            total_multiplier *= multiplier;
            total_increment = total_increment * multiplier + increment;
        }
        increment *= multiplier + 1;
        multiplier *= multiplier;
    }
    return (total_multiplier * 1070 + total_increment) & 0x7fffffffffffffffULL;
}
__host__ __device__ inline double next_number(std::uint64_t& state) {
    state = (state * 2806196910506780709ULL + 1) & 0x7fffffffffffffffULL;
    return static_cast<double>(state) / 9223372036854775808.0;
}
/// Fuel is met most often of all.
__host__ __device__ inline int pick_material(double number) {
    const double shares[materials] = {0.14,  0.052, 0.275, 0.134, 0.154, 0.064,
                                      0.066, 0.055, 0.008, 0.015, 0.025, 0.013};
    double sum = 0.0;
    for (int m = 0; m < materials; ++m) {
        sum += shares[m];
        if (number < sum) return m;
    }
    return 0;
}
__host__ __device__ inline Event event_at(int i) {
    std::uint64_t state = sequence_at(2 * static_cast<std::uint64_t>(i));
    const double energy = next_number(state);
    return {energy, pick_material(next_number(state)), i};
}

/// Last place of [low, high) whose energy does not exceed `energy`.
template <class Energy, class Get>
__host__ __device__ inline int search(Energy energy, int low, int high, Get get) {
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        if (get(middle) > energy)
            high = middle;
        else
            low = middle;
    }
    return low;
}

/// Adds what a nuclide has between two of its points.
template <class T>
__host__ __device__ inline void add_between(const Point<T>* low, T energy, T density, T (&sums)[5]) {
    const Point<T>& high = low[1];
    const T f = (high.energy - energy) / (high.energy - low->energy);
#pragma unroll
    for (int k = 0; k < 5; ++k) sums[k] += density * (high.values[k] - f * (high.values[k] - low->values[k]));
}

/// The three ways to find a nuclide's place.
template <class T>
struct NuclideGrid {
    const Point<T>* points;
    int length;
    __host__ __device__ int start(T) const { return 0; }
    __host__ __device__ int place(T energy, int, int nuclide) const {
        const Point<T>* own = points + static_cast<std::size_t>(nuclide) * length;
        return search(energy, 0, length - 1, [=](int i) { return own[i].energy; });
    }
};
template <class T>
struct UnionizedGrid {
    const Point<T>* points;
    int length;
    const T* energies;
    const int* places;
    int all, nuclides;
    __host__ __device__ int start(T energy) const {
        const T* list = energies;
        return search(energy, 0, all, [=](int i) { return list[i]; });
    }
    __host__ __device__ int place(T, int start, int nuclide) const {
        return places[static_cast<std::size_t>(start) * nuclides + nuclide];
    }
};
template <class T>
struct HashedGrid {
    const Point<T>* points;
    int length;
    const int* places;
    int bins, nuclides;
    __host__ __device__ int start(T energy) const { return static_cast<int>(energy * bins); }
    __host__ __device__ int place(T energy, int start, int nuclide) const {
        const Point<T>* own = points + static_cast<std::size_t>(nuclide) * length;
        const int low = places[static_cast<std::size_t>(start) * nuclides + nuclide];
        const int high = places[static_cast<std::size_t>(start + 1) * nuclides + nuclide];
        return search(energy, low, min(high, length - 2) + 1, [=](int i) { return own[i].energy; });
    }
};

template <class T, class Grid>
__host__ __device__ inline void macroscopic(const Grid& grid, const Materials& mix, T energy, int material,
                                            T (&sums)[5]) {
    for (int k = 0; k < 5; ++k) sums[k] = T(0);
    const int start = grid.start(energy), first = material * mix.most;
    for (int n = 0; n < mix.sizes[material]; ++n) {
        const int nuclide = mix.nuclides[first + n];
        const Point<T>* own = grid.points + static_cast<std::size_t>(nuclide) * grid.length;
        add_between(own + grid.place(energy, start, nuclide), energy,
                    static_cast<T>(mix.densities[first + n]), sums);
    }
}
/// Which of the five is largest, as a small result to check by.
template <class T>
__host__ __device__ inline int largest(const T (&sums)[5]) {
    int at = 0;
    for (int k = 1; k < 5; ++k)
        if (sums[k] > sums[at]) at = k;
    return at + 1;
}

/// Events made on the way, as the mini-apps do: a thread each, only a digit kept.
template <class Grid>
__global__ void __launch_bounds__(256)
    made_events(Grid grid, Materials mix, unsigned char* digits, unsigned long long* total, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int digit = 0;
    if (i < count) {
        const Event event = event_at(i);
        double sums[5];
        macroscopic(grid, mix, event.energy, event.material, sums);
        digit = largest(sums);
        digits[i] = static_cast<unsigned char>(digit);
    }
    digit = __reduce_add_sync(0xffffffffU, digit);
    if (threadIdx.x % 32 == 0) atomicAdd(total, static_cast<unsigned long long>(digit));
}

/// Events from a list; all five sums are kept.
template <class T, class Grid>
__global__ void __launch_bounds__(128)
    listed_events(Grid grid, Materials mix, const Event* __restrict__ events, T* __restrict__ out,
                  int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const Event event = events[i];
    T sums[5];
    macroscopic(grid, mix, static_cast<T>(event.energy), event.material, sums);
    for (int k = 0; k < 5; ++k) out[k * static_cast<std::size_t>(count) + event.from] = sums[k];
}

/// A warp an event: its lanes share the nuclides.
template <class Grid>
__global__ void __launch_bounds__(128)
    events_by_warps(Grid grid, Materials mix, const Event* events, double* out, int count) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i >= count) return;
    const Event event = events[i];
    double sums[5] = {};
    const int start = grid.start(event.energy), first = event.material * mix.most;
    for (int n = lane; n < mix.sizes[event.material]; n += 32) {
        const int nuclide = mix.nuclides[first + n];
        add_between(grid.points + static_cast<std::size_t>(nuclide) * grid.length +
                        grid.place(event.energy, start, nuclide),
                    event.energy, mix.densities[first + n], sums);
    }
#pragma unroll
    for (int k = 0; k < 5; ++k) {
        for (int step = 16; step > 0; step /= 2) sums[k] += __shfl_down_sync(0xffffffffU, sums[k], step);
        if (lane == 0) out[k * static_cast<std::size_t>(count) + event.from] = sums[k];
    }
}

struct Complex {
    double re, im;
};
__host__ __device__ inline Complex operator+(Complex a, Complex b) {
    return {a.re + b.re, a.im + b.im};
}
__host__ __device__ inline Complex operator*(Complex a, Complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
__host__ __device__ inline Complex operator/(Complex a, Complex b) {
    const double scale = 1.0 / (b.re * b.re + b.im * b.im);
    return {(a.re * b.re + a.im * b.im) * scale, (a.im * b.re - a.re * b.im) * scale};
}
__host__ __device__ inline Complex exponential(Complex z) {
    double sine, cosine;
    sincos(z.im, &sine, &cosine);
    const double size = exp(z.re);
    return {size * cosine, size * sine};
}
/// An approximation of the Faddeeva function: far away three terms, near by sixteen of a series.
__host__ __device__ inline Complex faddeeva(Complex z) {
    if (z.re * z.re + z.im * z.im > 36.0) {
        const double a = 0.512424224754768462984202823134979415014943561548661637413182;
        const double b = 0.275255128608410950901357962647054304017026259671664935783653;
        const double c = 0.051765358792987823963876628425793170829107067780337219430904;
        const double d = 2.724744871391589049098642037352945695982973740328335064216346;
        const Complex square = z * z;
        const Complex sum =
            Complex{a, 0.0} / (square + Complex{-b, 0.0}) + Complex{c, 0.0} / (square + Complex{-d, 0.0});
        return Complex{0.0, 1.0} * z * sum;
    }
    const Complex turned = {-12.0 * z.im, 12.0 * z.re}, whole = exponential(turned);
    const Complex scaled = {12.0 * z.re, 12.0 * z.im}, squared = scaled * scaled;
    const Complex one_less = {1.0 - whole.re, -whole.im}, one_more = {1.0 + whole.re, whole.im};
    Complex sum = Complex{0.0, 1.0} * one_less / scaled;
    for (int n = 1; n <= 10; ++n) {
        const double angle = n * 3.14159265358979324, size = exp(-(angle / 12.0) * (angle / 12.0));
        const Complex top = n % 2 == 0 ? one_less : one_more;
        const Complex part = Complex{0.0, 2.0 * size} * scaled * top;
        sum = sum + part / (squared + Complex{-angle * angle, 0.0});
    }
    return sum;
}

/// A pole: where, and residues of total, absorption and fission; `phase` says which phase it takes.
struct Pole {
    Complex at, total, absorption, fission;
    int phase, unused;
};
struct Window {
    double total, absorption, fission;
    int first, end;
};
struct Poles {
    const Pole* poles;
    const Window* windows;
    const double* radii;
    int windows_each, poles_each;
};

/// Cross sections at an energy from the poles of its window; `broad` also spreads them by temperature.
template <bool broad>
__host__ __device__ inline void from_poles(const Poles& data, double energy, int nuclide, double (&sums)[3]) {
    const int window = static_cast<int>(energy * data.windows_each);
    const Window own = data.windows[nuclide * data.windows_each + window];
    const double root = sqrt(energy), over = 1.0 / energy;
    Complex phases[4];
    for (int l = 0; l < 4; ++l) {
        double phase = data.radii[nuclide * 4 + l] * root;
        if (l == 1)
            phase -= atan(phase);
        else if (l == 2)
            phase -= atan(3.0 * phase / (3.0 - phase * phase));
        else if (l == 3)
            phase -= atan(phase * (15.0 - phase * phase) / (15.0 - 6.0 * phase * phase));
        double sine, cosine;
        sincos(2.0 * phase, &sine, &cosine);
        phases[l] = {cosine, -sine};
    }
    sums[0] = energy * own.total;
    sums[1] = energy * own.absorption;
    sums[2] = energy * own.fission;
    for (int k = own.first; k < own.end; ++k) {
        const Pole pole = data.poles[nuclide * data.poles_each + k];
        const Complex away = {pole.at.re - root, pole.at.im};
        Complex weight;
        if constexpr (broad)
            weight = faddeeva({away.re * 20.0, away.im * 20.0});
        else
            weight = Complex{0.0, 1.0} / away;
        const Complex total = pole.total * weight * phases[pole.phase];
        sums[0] += total.re * over;
        sums[1] += (pole.absorption * weight).re * over;
        sums[2] += (pole.fission * weight).re * over;
    }
}
template <bool broad>
__host__ __device__ inline void material_from_poles(const Poles& data, const Materials& mix,
                                                    const Event& event, double (&sums)[3]) {
    sums[0] = sums[1] = sums[2] = 0.0;
    const double energy = 0.02 + 0.979 * event.energy;
    for (int n = 0; n < mix.sizes[event.material]; ++n) {
        double own[3];
        from_poles<broad>(data, energy, mix.nuclides[event.material * mix.most + n], own);
        for (int k = 0; k < 3; ++k) sums[k] += mix.densities[event.material * mix.most + n] * own[k];
    }
}
template <bool broad>
__global__ void __launch_bounds__(128)
    pole_events(Poles data, Materials mix, const Event* events, double* out, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const Event event = events[i];
    double sums[3];
    material_from_poles<broad>(data, mix, event, sums);
    for (int k = 0; k < 3; ++k) out[3 * static_cast<std::size_t>(event.from) + k] = sums[k];
}

/// Grids of all nuclides, on the host.
template <class T>
std::vector<Point<T>> make_points(int nuclides, int length) {
    std::vector<Point<T>> points(static_cast<std::size_t>(nuclides) * length);
    for (int n = 0; n < nuclides; ++n) {
        std::vector<T> energies(length);
        for (int i = 0; i < length; ++i)
            energies[i] =
                static_cast<T>(random_bits(20, static_cast<std::uint64_t>(n) * length + i) / 4294967296.0);
        std::sort(energies.begin(), energies.end());
        energies.front() = T(0);
        energies.back() = T(1);
        for (int i = 0; i < length; ++i) {
            Point<T>& point = points[static_cast<std::size_t>(n) * length + i];
            point.energy = energies[i];
            for (int k = 0; k < 5; ++k)
                point.values[k] = static_cast<T>(
                    random_bits(21 + k, static_cast<std::uint64_t>(n) * length + i) / 4294967296.0);
        }
    }
    return points;
}
/// For each of the energies, the place in each nuclide's grid.
template <class T>
std::vector<int> make_places(const std::vector<Point<T>>& points, int nuclides, int length,
                             const std::vector<T>& energies) {
    std::vector<int> places(energies.size() * nuclides), now(nuclides);
    for (std::size_t e = 0; e < energies.size(); ++e)
        for (int n = 0; n < nuclides; ++n) {
            const Point<T>* own = points.data() + static_cast<std::size_t>(n) * length;
            while (now[n] < length - 2 && own[now[n] + 1].energy <= energies[e]) ++now[n];
            places[e * nuclides + n] = now[n];
        }
    return places;
}

struct HostMaterials {
    std::vector<int> sizes, nuclides;
    std::vector<double> densities;
    int most;
    Materials get() const { return {sizes.data(), nuclides.data(), densities.data(), most}; }
};
/// Materials of 4 nuclides up to all but a few: the first is fuel.
HostMaterials make_materials(int nuclides, int fuel) {
    const int sizes[materials] = {fuel, 5, 4, 4, 27, 21, 21, 21, 21, 21, 9, 9};
    HostMaterials mix{std::vector<int>(sizes, sizes + materials), {}, {}, fuel};
    for (int m = 0; m < materials; ++m)
        for (int n = 0; n < fuel; ++n) {
            mix.nuclides.push_back(m == 0 ? n * nuclides / fuel
                                          : static_cast<int>(random_bits(30 + m, n) % nuclides));
            mix.densities.push_back(random_bits(50 + m, n) / 4294967296.0);
        }
    return mix;
}
struct DeviceMaterials {
    explicit DeviceMaterials(const HostMaterials& mix)
        : sizes(mix.sizes), nuclides(mix.nuclides), densities(mix.densities), most(mix.most) {}
    Materials get() const { return {sizes.data(), nuclides.data(), densities.data(), most}; }
    Array<int> sizes, nuclides;
    Array<double> densities;
    int most;
};

std::vector<Event> make_events(int count, bool sorted) {
    std::vector<Event> events(count);
    for (int i = 0; i < count; ++i) events[i] = event_at(i);
    if (sorted)
        std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
            return a.material != b.material ? a.material < b.material : a.energy < b.energy;
        });
    return events;
}

template <class T, class Grid>
void check_events(const Grid& grid, const Materials& mix, const std::vector<T>& got, int count,
                  double tolerance, const char* what) {
    for (int i = 0; i < count; i += 97) {
        const Event event = event_at(i);
        T sums[5];
        macroscopic(grid, mix, static_cast<T>(event.energy), event.material, sums);
        for (int k = 0; k < 5; ++k)
            check(std::fabs(got[k * static_cast<std::size_t>(count) + i] - sums[k]) <= tolerance * sums[k],
                  what);
    }
    output(what, got);
}

void searched() {
    const int nuclides = 304, length = 1500;
    const auto points = make_points<double>(nuclides, length);
    const auto mix = make_materials(nuclides, 300);
    const Array<Point<double>> point_array(points);
    const DeviceMaterials device_mix(mix);
    const NuclideGrid<double> host{points.data(), length}, device{point_array.data(), length};
    const int count = 30'000;
    const Array<unsigned char> digits(count);
    const Array<unsigned long long> total(1);
    prepare();
    made_events<<<(count + 255) / 256, 256>>>(device, device_mix.get(), digits.data(), total.data(), count);
    finish("nuclide grids");
    const auto got = digits.values();
    unsigned long long sum = 0;
    for (const unsigned char digit : got) sum += digit;
    check(total.values()[0] == sum, "nuclide grids");
    for (int i = 0; i < count; i += 61) {
        const Event event = event_at(i);
        double sums[5];
        macroscopic(host, mix.get(), event.energy, event.material, sums);
        check(got[i] == largest(sums), "nuclide grids");
    }
    output("nuclide_grids", got);

    // By hash: bins far fewer than points.
    const int bins = 2000;
    std::vector<double> edges(bins + 1);
    for (int b = 0; b <= bins; ++b) edges[b] = static_cast<double>(b) / bins;
    const auto places = make_places(points, nuclides, length, edges);
    const Array<int> place_array(places);
    const HashedGrid<double> host_hash{points.data(), length, places.data(), bins, nuclides};
    const HashedGrid<double> device_hash{point_array.data(), length, place_array.data(), bins, nuclides};
    const int many = 70'000;
    const Array<Event> events(make_events(many, false)), sorted(make_events(many, true));
    Array<double> out(static_cast<std::size_t>(many) * 5);
    prepare();
    listed_events<<<(many + 127) / 128, 128>>>(device_hash, device_mix.get(), events.data(), out.data(),
                                               many);
    finish("hashed");
    check_events(host_hash, mix.get(), out.values(), many, 1e-10, "hashed");
    out.zero();
    prepare();
    listed_events<<<(many + 127) / 128, 128>>>(device_hash, device_mix.get(), sorted.data(), out.data(),
                                               many);
    finish("hashed and sorted");
    check_events(host_hash, mix.get(), out.values(), many, 1e-10, "hashed_and_sorted");
    out.zero();
    prepare();
    events_by_warps<<<(many + 3) / 4, 128>>>(device_hash, device_mix.get(), events.data(), out.data(), many);
    finish("hashed by warps");
    check_events(host_hash, mix.get(), out.values(), many, 1e-10, "hashed_by_warps");
}

/// All energies together, with places for each nuclide.
template <class T>
void unionized(const char* name, int nuclides, int length, int fuel, int count, bool sorted,
               double tolerance) {
    const auto points = make_points<T>(nuclides, length);
    const auto mix = make_materials(nuclides, fuel);
    std::vector<T> energies;
    for (const auto& point : points) energies.push_back(point.energy);
    std::sort(energies.begin(), energies.end());
    const auto places = make_places(points, nuclides, length, energies);
    const Array<Point<T>> point_array(points);
    const Array<T> energy_array(energies);
    const Array<int> place_array(places);
    const DeviceMaterials device_mix(mix);
    const int all = static_cast<int>(energies.size());
    const UnionizedGrid<T> host{points.data(), length, energies.data(), places.data(), all, nuclides};
    const UnionizedGrid<T> device{point_array.data(), length, energy_array.data(),
                                  place_array.data(), all,    nuclides};
    const Array<Event> events(make_events(count, sorted));
    const Array<T> out(static_cast<std::size_t>(count) * 5);
    prepare();
    listed_events<<<(count + 127) / 128, 128>>>(device, device_mix.get(), events.data(), out.data(), count);
    finish(name);
    check_events(host, mix.get(), out.values(), count, tolerance, name);
}

template <bool broad>
void poles(const char* name, int nuclides, int fuel, int count, bool sorted) {
    const int windows = 100, each = 600;
    std::vector<Pole> list(static_cast<std::size_t>(nuclides) * each);
    std::vector<Window> window_list(static_cast<std::size_t>(nuclides) * windows);
    std::vector<double> radii(nuclides * 4);
    const auto number = [](int seed, std::size_t i) { return random_bits(seed, i) / 4294967296.0; };
    for (std::size_t i = 0; i < list.size(); ++i) {
        const auto residue = [&](int seed) {
            return Complex{number(seed, i) * 0.01, number(seed + 1, i) * 0.01};
        };
        const double root = std::sqrt((i % each + number(70, i)) / each);
        list[i] = {{root, -0.001 - 0.02 * number(71, i)},
                   residue(72),
                   residue(74),
                   residue(76),
                   static_cast<int>(random_bits(78, i) % 4),
                   0};
    }
    for (std::size_t i = 0; i < window_list.size(); ++i) {
        const int centre = static_cast<int>(i % windows) * each / windows;
        const int before = static_cast<int>(random_bits(79, i) % 4),
                  after = 2 + static_cast<int>(random_bits(80, i) % 9);
        window_list[i] = {number(81, i), number(82, i), number(83, i), std::max(centre - before, 0),
                          std::min(centre + after, each)};
    }
    for (std::size_t i = 0; i < radii.size(); ++i) radii[i] = 0.5 + number(84, i);
    const Array<Pole> pole_array(list);
    const Array<Window> window_array(window_list);
    const Array<double> radius_array(radii);
    const auto mix = make_materials(nuclides, fuel);
    const DeviceMaterials device_mix(mix);
    const Poles host{list.data(), window_list.data(), radii.data(), windows, each};
    const Poles device{pole_array.data(), window_array.data(), radius_array.data(), windows, each};
    const Array<Event> events(make_events(count, sorted));
    const Array<double> out(static_cast<std::size_t>(count) * 3);
    prepare();
    pole_events<broad>
        <<<(count + 127) / 128, 128>>>(device, device_mix.get(), events.data(), out.data(), count);
    finish(name);
    const auto got = out.values();
    for (int i = 0; i < count; i += 197) {
        double sums[3];
        material_from_poles<broad>(host, mix.get(), event_at(i), sums);
        for (int k = 0; k < 3; ++k)
            check(std::fabs(got[3 * i + k] - sums[k]) < 1e-7 * (1.0 + std::fabs(sums[k])), name);
    }
    output(name, got);
}

void body() {
    searched();
    unionized<double>("unionized", 304, 300, 300, 60'000, false, 1e-10);
    unionized<double>("unionized_and_sorted", 304, 300, 300, 60'000, true, 1e-10);
    unionized<double>("unionized_few_nuclides", 68, 1000, 34, 150'000, false, 1e-10);
    unionized<float>("unionized_float", 68, 1000, 34, 200'001, false, 1e-3);
    poles<false>("poles", 68, 34, 60'000, false);
    poles<true>("broadened_poles", 68, 34, 12'000, false);
    poles<true>("broadened_poles_sorted", 68, 34, 12'000, true);
}

int main() {
    return run(body);
}
