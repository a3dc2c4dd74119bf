// Hydrodynamics on a staggered grid in double: equation of state, viscosity, work of pressure, fluxes,
// advection with a limiter, the next time step and halos on a plane of cells; and in space the volumes of
// hexahedra with eight nodes each, stresses added to nodes and node forces gathered by corners.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

/// A plane of cells with two rows of halo about it; all fields have a row and column more than cells, for
/// nodes.
struct Plane {
    int nx, ny, pitch;
    __host__ __device__ int at(int x, int y) const { return (y + 2) * pitch + x + 2; }
};
constexpr double gamma_gas = 1.4, dx = 0.01, dy = 0.0125, cell_volume = dx * dy;

__device__ inline bool inside(const Plane& plane, int& x, int& y) {
    x = blockIdx.x * blockDim.x + threadIdx.x;
    y = blockIdx.y * blockDim.y + threadIdx.y;
    return x < plane.nx && y < plane.ny;
}

/// Ideal gas: pressure and the speed of sound.
__global__ void ideal_gas(Plane plane, const double* __restrict__ density, const double* __restrict__ energy,
                          double* __restrict__ pressure, double* __restrict__ sound) {
    int x, y;
    if (!inside(plane, x, y)) return;
    const int i = plane.at(x, y);
    const double v = 1.0 / density[i];
    pressure[i] = (gamma_gas - 1.0) * density[i] * energy[i];
    const double by_energy = (gamma_gas - 1.0) * density[i];
    const double by_volume = -density[i] * pressure[i];
    const double square = v * v * (pressure[i] * by_energy - by_volume);
    sound[i] = sqrt(square);
}

/// Artificial viscosity where cells are compressed, by the slope of the pressure.
__host__ __device__ inline double viscosity_at(const Plane& plane, const double* density,
                                               const double* pressure, const double* vx, const double* vy,
                                               int i) {
    const int right = i + 1, up = i + plane.pitch, corner = up + 1;
    const double ugrad = (vx[right] + vx[corner]) - (vx[i] + vx[up]);
    const double vgrad = (vy[up] + vy[corner]) - (vy[i] + vy[right]);
    const double divergence = dx * vgrad + dy * ugrad;
    const double strain = 0.5 * (vx[up] + vx[corner] - vx[i] - vx[right]) / dy +
                          0.5 * (vy[right] + vy[corner] - vy[i] - vy[up]) / dx;
    double px = (pressure[right] - pressure[i - 1]) / (2.0 * dx);
    double py = (pressure[up] - pressure[i - plane.pitch]) / (2.0 * dy);
    const double px2 = px * px, py2 = py * py;
    const double limiter =
        (0.5 * ugrad / dx * px2 + 0.5 * vgrad / dy * py2 + strain * px * py) / fmax(px2 + py2, 1e-16);
    if (limiter > 0.0 || divergence >= 0.0) return 0.0;
    px = copysign(fmax(1e-16, fabs(px)), px);
    py = copysign(fmax(1e-16, fabs(py)), py);
    const double slope = sqrt(px * px + py * py);
    const double gx = fabs(dx * slope / px), gy = fabs(dy * slope / py), grad = fmin(gx, gy);
    return 2.0 * density[i] * grad * grad * limiter * limiter;
}
__global__ void viscosity_of_shocks(Plane plane, const double* __restrict__ density,
                                    const double* __restrict__ pressure, const double* __restrict__ vx,
                                    const double* __restrict__ vy, double* __restrict__ viscosity) {
    int x, y;
    if (!inside(plane, x, y)) return;
    const int i = plane.at(x, y);
    viscosity[i] = viscosity_at(plane, density, pressure, vx, vy, i);
}

/// Work of the pressure on cells as their faces move; half a step is the predictor.
template <bool predict>
__global__ void pressure_work(Plane plane, double step, const double* xarea, const double* yarea,
                              const double* volume, const double* density, double* new_density,
                              const double* energy, double* new_energy, const double* pressure,
                              const double* viscosity, const double* vx0, const double* vx1,
                              const double* vy0, const double* vy1) {
    int x, y;
    if (!inside(plane, x, y)) return;
    const int i = plane.at(x, y), right = i + 1, up = i + plane.pitch, corner = up + 1;
    double left_flux, right_flux, low_flux, high_flux, used;
    if constexpr (predict) {
        left_flux = xarea[i] * (vx0[i] + vx0[up] + vx0[i] + vx0[up]) * 0.25 * step * 0.5;
        right_flux = xarea[right] * (vx0[right] + vx0[corner] + vx0[right] + vx0[corner]) * 0.25 * step * 0.5;
        low_flux = yarea[i] * (vy0[i] + vy0[right] + vy0[i] + vy0[right]) * 0.25 * step * 0.5;
        high_flux = yarea[up] * (vy0[up] + vy0[corner] + vy0[up] + vy0[corner]) * 0.25 * step * 0.5;
    } else {
        left_flux = xarea[i] * (vx0[i] + vx0[up] + vx1[i] + vx1[up]) * 0.25 * step;
        right_flux = xarea[right] * (vx0[right] + vx0[corner] + vx1[right] + vx1[corner]) * 0.25 * step;
        low_flux = yarea[i] * (vy0[i] + vy0[right] + vy1[i] + vy1[right]) * 0.25 * step;
        high_flux = yarea[up] * (vy0[up] + vy0[corner] + vy1[up] + vy1[corner]) * 0.25 * step;
    }
    const double total = right_flux - left_flux + high_flux - low_flux;
    used = volume[i] / (volume[i] + total);
    const double change = (pressure[i] / density[i] + viscosity[i] / density[i]) * total / volume[i];
    new_energy[i] = energy[i] - change;
    new_density[i] = density[i] * used;
}

/// Volumes that pass through faces.
__global__ void volume_fluxes(Plane plane, double step, const double* __restrict__ xarea,
                              const double* __restrict__ yarea, const double* __restrict__ vx0,
                              const double* __restrict__ vy0, const double* __restrict__ vx1,
                              const double* __restrict__ vy1, double* __restrict__ xflux,
                              double* __restrict__ yflux) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int i = plane.at(x, y), right = i + 1, up = i + plane.pitch;
    if (x < plane.nx + 1 && y < plane.ny)
        xflux[i] = 0.25 * step * xarea[i] * (vx0[i] + vx0[up] + vx1[i] + vx1[up]);
    if (x < plane.nx && y < plane.ny + 1)
        yflux[i] = 0.25 * step * yarea[i] * (vy0[i] + vy0[right] + vy1[i] + vy1[right]);
}

/// Mass and energy that pass through upright faces, from the donor cell, with a slope that is limited.
__host__ __device__ inline double limited(double donor_less_up, double down_less_donor, double sigma,
                                          double weight) {
    if (donor_less_up * down_less_donor <= 0.0) return 0.0;
    const double steep = fmin(fabs(donor_less_up), fabs(down_less_donor));
    const double mixed = (1.0 - sigma) * fabs(down_less_donor) + weight * (1.0 + sigma) * fabs(donor_less_up);
    return (1.0 - sigma) * copysign(fmin(steep, mixed / 6.0), down_less_donor);
}
__host__ __device__ inline double2 donated(const Plane& plane, const double* widths, const double* xflux,
                                           const double* density, const double* energy, const double* before,
                                           int x, int i) {
    int upwind, donor, downwind, between;
    if (xflux[i] > 0.0) {
        upwind = i - 2;
        donor = i - 1;
        downwind = i;
        between = x - 1;
    } else {
        upwind = x < plane.nx ? i + 1 : i;
        donor = i;
        downwind = i - 1;
        between = x < plane.nx ? x + 1 : x;
    }
    const double sigma = fabs(xflux[i]) / before[donor];
    const double weight = widths[x + 2] / widths[between + 2];
    const double mass_slope =
        limited(density[donor] - density[upwind], density[downwind] - density[donor], sigma, weight);
    const double mass = xflux[i] * (density[donor] + mass_slope);
    const double share = fabs(mass) / (density[donor] * before[donor]);
    const double energy_slope =
        limited(energy[donor] - energy[upwind], energy[downwind] - energy[donor], share, 1.0);
    return {mass, mass * (energy[donor] + energy_slope)};
}
__global__ void __launch_bounds__(256)
    donor_fluxes(Plane plane, const double* __restrict__ widths, const double* __restrict__ xflux,
                 const double* __restrict__ density, const double* __restrict__ energy,
                 const double* __restrict__ before, double* __restrict__ mass,
                 double* __restrict__ energy_flux) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > plane.nx || y >= plane.ny) return;
    const int i = plane.at(x, y);
    const double2 both = donated(plane, widths, xflux, density, energy, before, x, i);
    mass[i] = both.x;
    energy_flux[i] = both.y;
}
/// Cells take in what came through their faces.
__global__ void __launch_bounds__(256)
    advect(Plane plane, const double* __restrict__ xflux, const double* __restrict__ mass,
           const double* __restrict__ energy_flux, const double* __restrict__ before, double* density,
           double* energy) {
    int x, y;
    if (!inside(plane, x, y)) return;
    const int i = plane.at(x, y);
    const double mass_before = density[i] * before[i], mass_after = mass_before + mass[i] - mass[i + 1];
    const double energy_after = (energy[i] * mass_before + energy_flux[i] - energy_flux[i + 1]) / mass_after;
    const double volume_after = before[i] + xflux[i] - xflux[i + 1];
    density[i] = mass_after / volume_after;
    energy[i] = energy_after;
}

/// Longest time step that no cell forbids: smallest of each block, and of all by an atomic on the bits.
__host__ __device__ inline double cell_step(const Plane& plane, const double* density, const double* sound,
                                            const double* viscosity, const double* vx, const double* vy,
                                            int i) {
    const int right = i + 1, up = i + plane.pitch, corner = up + 1;
    double speed = sound[i] * sound[i] + 2.0 * viscosity[i] / density[i];
    speed = fmax(sqrt(speed), 1e-10);
    const double by_sound = 0.7 * fmin(dx, dy) / speed;
    const double left = (vx[i] + vx[up]) * dy * 0.5, gone = (vx[right] + vx[corner]) * dy * 0.5;
    const double low = (vy[i] + vy[right]) * dx * 0.5, high = (vy[up] + vy[corner]) * dx * 0.5;
    const double by_x = 0.5 * cell_volume / fmax(fmax(fabs(left), fabs(gone)), 1e-5 * cell_volume);
    const double by_y = 0.5 * cell_volume / fmax(fmax(fabs(low), fabs(high)), 1e-5 * cell_volume);
    const double divergence = (gone - left + high - low) / cell_volume;
    const double by_divergence = divergence < -1e-5 ? 0.7 * (-1.0 / divergence) : 1e10;
    return fmin(fmin(by_sound, by_divergence), fmin(by_x, by_y));
}
__global__ void __launch_bounds__(256)
    next_step(Plane plane, const double* __restrict__ density, const double* __restrict__ sound,
              const double* __restrict__ viscosity, const double* __restrict__ vx,
              const double* __restrict__ vy, unsigned long long* least) {
    __shared__ double parts[256];
    const int thread = threadIdx.y * blockDim.x + threadIdx.x;
    int x, y;
    parts[thread] =
        inside(plane, x, y) ? cell_step(plane, density, sound, viscosity, vx, vy, plane.at(x, y)) : 1e20;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half) parts[thread] = fmin(parts[thread], parts[thread + half]);
    }
    if (thread == 0) atomicMin(least, static_cast<unsigned long long>(__double_as_longlong(parts[0])));
}

/// Mirrors two rows at the bottom and top, and two columns left and right, of several fields at once.
struct Fields {
    double* values[4];
};
__global__ void mirror_rows(Plane plane, Fields fields) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x - 2, depth = threadIdx.y;
    if (x >= plane.nx + 2) return;
    double* field = fields.values[blockIdx.y];
    field[plane.at(x, -1 - depth)] = field[plane.at(x, depth)];
    field[plane.at(x, plane.ny + depth)] = field[plane.at(x, plane.ny - 1 - depth)];
}
__global__ void mirror_columns(Plane plane, Fields fields) {
    const int y = blockIdx.x * blockDim.y + threadIdx.y - 2, depth = threadIdx.x;
    if (y >= plane.ny + 2) return;
    double* field = fields.values[blockIdx.y];
    field[plane.at(-1 - depth, y)] = field[plane.at(depth, y)];
    field[plane.at(plane.nx + depth, y)] = field[plane.at(plane.nx - 1 - depth, y)];
}

/// Of hexahedra: eight nodes each by number, places of nodes by direction.
__host__ __device__ inline double triple(double x1, double y1, double z1, double x2, double y2, double z2,
                                         double x3, double y3, double z3) {
    return x1 * (y2 * z3 - z2 * y3) + x2 * (z1 * y3 - y1 * z3) + x3 * (y1 * z2 - z1 * y2);
}
__host__ __device__ inline double hexahedron(const double (&x)[8], const double (&y)[8],
                                             const double (&z)[8]) {
    const auto pair = [&](int a, int b, int c, int d, int e, int f, int g, int h) {
        return triple(x[a] - x[b] + x[c] - x[d], y[a] - y[b] + y[c] - y[d], z[a] - z[b] + z[c] - z[d],
                      x[e] - x[f], y[e] - y[f], z[e] - z[f], x[g] - x[h], y[g] - y[h], z[g] - z[h]);
    };
    return (pair(3, 1, 7, 2, 6, 3, 2, 0) + pair(4, 3, 5, 7, 6, 4, 7, 0) + pair(1, 4, 2, 5, 6, 1, 5, 0)) /
           12.0;
}
__global__ void __launch_bounds__(128)
    volumes_of_elements(const int* __restrict__ nodes, const double* __restrict__ x,
                        const double* __restrict__ y, const double* __restrict__ z,
                        const double* __restrict__ reference, double* __restrict__ relative,
                        double* __restrict__ length, int elements) {
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= elements) return;
    double px[8], py[8], pz[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        const int node = nodes[8 * e + k];
        px[k] = x[node];
        py[k] = y[node];
        pz[k] = z[node];
    }
    const double volume = hexahedron(px, py, pz);
    relative[e] = volume / reference[e];
    length[e] = cbrt(fabs(volume));
}

/// Forces of pressure on the corners of each element, by areas of the six faces; kept by corner.
__host__ __device__ inline void corner_forces(const double (&x)[8], const double (&y)[8],
                                              const double (&z)[8], double stress, double (&fx)[8],
                                              double (&fy)[8], double (&fz)[8]) {
    for (int k = 0; k < 8; ++k) fx[k] = fy[k] = fz[k] = 0.0;
    constexpr int faces[6][4] = {{0, 1, 2, 3}, {0, 4, 5, 1}, {1, 5, 6, 2},
                                 {2, 6, 7, 3}, {3, 7, 4, 0}, {4, 7, 6, 5}};
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int face = 0; face < 6; ++face) {
        const int a = faces[face][0], b = faces[face][1], c = faces[face][2], d = faces[face][3];
        const double ax = 0.5 * (x[d] + x[c] - x[b] - x[a]), ay = 0.5 * (y[d] + y[c] - y[b] - y[a]),
                     az = 0.5 * (z[d] + z[c] - z[b] - z[a]);
        const double bx = 0.5 * (x[c] + x[b] - x[d] - x[a]), by = 0.5 * (y[c] + y[b] - y[d] - y[a]),
                     bz = 0.5 * (z[c] + z[b] - z[d] - z[a]);
        const double nx = 0.25 * (ay * bz - az * by) * stress, ny = 0.25 * (az * bx - ax * bz) * stress,
                     nz = 0.25 * (ax * by - ay * bx) * stress;
        for (const int k : faces[face]) {
            fx[k] += nx;
            fy[k] += ny;
            fz[k] += nz;
        }
    }
}
__global__ void __launch_bounds__(64)
    stress_to_corners(const int* __restrict__ nodes, const double* __restrict__ x,
                      const double* __restrict__ y, const double* __restrict__ z,
                      const double* __restrict__ stress, double* __restrict__ forces, int elements) {
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= elements) return;
    double px[8], py[8], pz[8], fx[8], fy[8], fz[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        const int node = __ldg(nodes + 8 * e + k);
        px[k] = x[node];
        py[k] = y[node];
        pz[k] = z[node];
    }
    corner_forces(px, py, pz, stress[e], fx, fy, fz);
    const std::size_t corners = static_cast<std::size_t>(elements) * 8;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        forces[8 * e + k] = fx[k];
        forces[corners + 8 * e + k] = fy[k];
        forces[2 * corners + 8 * e + k] = fz[k];
    }
}

/// Nodes add up the corners that touch them, and move.
__global__ void __launch_bounds__(256)
    move_nodes(const int* __restrict__ starts, const int* __restrict__ corners,
               const double* __restrict__ forces, const double* __restrict__ masses,
               double* __restrict__ speeds, double step, int nodes, int all) {
    const int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes) return;
    double fx = 0.0, fy = 0.0, fz = 0.0;
    for (int k = starts[node]; k < starts[node + 1]; ++k) {
        const int corner = corners[k];
        fx += forces[corner];
        fy += forces[static_cast<std::size_t>(all) + corner];
        fz += forces[2 * static_cast<std::size_t>(all) + corner];
    }
    const double force[3] = {fx, fy, fz};
#pragma unroll
    for (int d = 0; d < 3; ++d) {
        const std::size_t at = static_cast<std::size_t>(d) * nodes + node;
        const double speed = speeds[at] + step * force[d] / masses[node];
        speeds[at] = fabs(speed) < 1e-7 ? 0.0 : speed;
    }
}

/// The fields of a plane on the host, and what each step makes of them.
struct Fluid {
    explicit Fluid(Plane p) : plane(p), count(static_cast<std::size_t>(p.pitch) * (p.ny + 5)) {
        density = field(1, [](double r, double, double) { return 1.0 + 0.3 * r; });
        energy = field(2, [](double r, double u, double) { return 2.5 + 0.2 * r + (u < 0.3 ? 1.0 : 0.0); });
        vx0 = field(
            3, [](double r, double u, double v) { return 0.2 * std::sin(9.0 * u + 4.0 * v) + 0.02 * r; });
        vy0 = field(
            4, [](double r, double u, double v) { return 0.2 * std::cos(5.0 * u - 7.0 * v) + 0.02 * r; });
        vx1 = field(
            5, [](double r, double u, double v) { return 0.2 * std::sin(9.1 * u + 4.0 * v) + 0.02 * r; });
        vy1 = field(
            6, [](double r, double u, double v) { return 0.2 * std::cos(5.1 * u - 7.0 * v) + 0.02 * r; });
        xarea.assign(count, dy);
        yarea.assign(count, dx);
        volume.assign(count, cell_volume);
    }
    template <class Rule>
    std::vector<double> field(int seed, Rule rule) const {
        std::vector<double> values(count);
        for (std::size_t i = 0; i < count; ++i)
            values[i] = rule(random_float(seed, i), static_cast<double>(i % plane.pitch) / plane.pitch,
                             static_cast<double>(i / plane.pitch) / plane.ny);
        return values;
    }
    Plane plane;
    std::size_t count;
    std::vector<double> density, energy, vx0, vy0, vx1, vy1, xarea, yarea, volume;
};

bool near(double got, double expected) {
    return std::fabs(got - expected) <= 1e-9 * std::fabs(expected) + 1e-13;
}
/// Calls `test(x, y)` for cells spread over the plane, its edges too.
template <class Test>
void for_cells(const Plane& plane, Test test) {
    for (int y = 0; y < plane.ny; y += 17)
        for (int x = 0; x < plane.nx; x += 13) test(x, y);
    for (int x = 0; x < plane.nx; ++x) test(x, plane.ny - 1);
}

void plane_of_cells() {
    const Plane plane{1900, 1401, 1905};
    const Fluid fluid(plane);
    const double step = 0.004;
    const Array<double> density(fluid.density), energy(fluid.energy), vx0(fluid.vx0), vy0(fluid.vy0),
        vx1(fluid.vx1), vy1(fluid.vy1), xarea(fluid.xarea), yarea(fluid.yarea), volume(fluid.volume);
    const Array<double> pressure(fluid.count), sound(fluid.count), viscosity(fluid.count),
        density1(fluid.count), energy1(fluid.count), xflux(fluid.count), yflux(fluid.count),
        mass(fluid.count), energy_flux(fluid.count);
    const dim3 block(64, 4), grid((plane.nx + 63) / 64, (plane.ny + 3) / 4);

    prepare();
    ideal_gas<<<grid, block>>>(plane, density.data(), energy.data(), pressure.data(), sound.data());
    finish("ideal gas");
    auto p = pressure.values();
    const auto s = sound.values();
    for_cells(plane, [&](int x, int y) {
        const int i = plane.at(x, y);
        check(near(p[i], 0.4 * fluid.density[i] * fluid.energy[i]), "pressure");
        check(near(s[i], std::sqrt(1.4 * p[i] / fluid.density[i])), "sound");
    });
    output("sound", s);

    const Fields fields{{density.data(), energy.data(), pressure.data(), sound.data()}};
    prepare();
    mirror_rows<<<dim3((plane.nx + 4 + 127) / 128, 4), dim3(128, 2)>>>(plane, fields);
    finish("mirror rows");
    prepare();
    mirror_columns<<<dim3((plane.ny + 4 + 63) / 64, 4), dim3(2, 64)>>>(plane, fields);
    finish("mirror columns");
    p = pressure.values();
    const auto r = density.values(), e = energy.values();
    for (int x = -2; x < plane.nx + 2; ++x)
        for (int depth = 0; depth < 2; ++depth)
            check(p[plane.at(x, -1 - depth)] == p[plane.at(x, depth)] &&
                      r[plane.at(x, plane.ny + depth)] == r[plane.at(x, plane.ny - 1 - depth)],
                  "mirrored rows");
    for (int y = -2; y < plane.ny + 2; ++y)
        for (int depth = 0; depth < 2; ++depth)
            check(e[plane.at(-1 - depth, y)] == e[plane.at(depth, y)] &&
                      p[plane.at(plane.nx + depth, y)] == p[plane.at(plane.nx - 1 - depth, y)],
                  "mirrored columns");
    output("mirrored", p);

    prepare();
    viscosity_of_shocks<<<grid, block>>>(plane, density.data(), pressure.data(), vx0.data(), vy0.data(),
                                         viscosity.data());
    finish("viscosity");
    const auto q = viscosity.values();
    int compressed = 0;
    for_cells(plane, [&](int x, int y) {
        const int i = plane.at(x, y);
        check(near(q[i], viscosity_at(plane, r.data(), p.data(), fluid.vx0.data(), fluid.vy0.data(), i)),
              "viscosity");
        compressed += q[i] > 0.0 ? 1 : 0;
    });
    check(compressed > 1000, "viscosity");
    output("viscosity", q);

    const Array<unsigned long long> least(std::vector<unsigned long long>{~0ULL >> 1});
    prepare();
    next_step<<<dim3((plane.nx + 31) / 32, (plane.ny + 7) / 8), dim3(32, 8)>>>(
        plane, density.data(), sound.data(), viscosity.data(), vx0.data(), vy0.data(), least.data());
    finish("next step");
    double shortest = 1e20;
    for (int y = 0; y < plane.ny; ++y)
        for (int x = 0; x < plane.nx; ++x)
            shortest = std::min(shortest, cell_step(plane, r.data(), s.data(), q.data(), fluid.vx0.data(),
                                                    fluid.vy0.data(), plane.at(x, y)));
    double found = 0.0;
    std::memcpy(&found, least.values().data(), sizeof(found));
    check(near(found, shortest), "next step");
    output("next_step", std::vector<double>{found});

    const auto work = [&](auto kernel, bool predict, const char* what) {
        prepare();
        kernel<<<dim3((plane.nx + 127) / 128, plane.ny), 128>>>(
            plane, step, xarea.data(), yarea.data(), volume.data(), density.data(), density1.data(),
            energy.data(), energy1.data(), pressure.data(), viscosity.data(), vx0.data(), vx1.data(),
            vy0.data(), vy1.data());
        finish(what);
        const auto got = energy1.values(), got_density = density1.values();
        for_cells(plane, [&](int x, int y) {
            const int i = plane.at(x, y), up = i + plane.pitch;
            const auto& ux = predict ? fluid.vx0 : fluid.vx1;
            const auto& uy = predict ? fluid.vy0 : fluid.vy1;
            const auto across = [&](int at) {
                return dy * (fluid.vx0[at] + fluid.vx0[at + plane.pitch] + ux[at] + ux[at + plane.pitch]);
            };
            const auto along = [&](int at) {
                return dx * (fluid.vy0[at] + fluid.vy0[at + 1] + uy[at] + uy[at + 1]);
            };
            const double total =
                (across(i + 1) - across(i) + along(up) - along(i)) * 0.25 * step * (predict ? 0.5 : 1.0);
            check(near(got[i], e[i] - (p[i] + q[i]) / r[i] * total / cell_volume), what);
            check(near(got_density[i], r[i] * cell_volume / (cell_volume + total)), what);
        });
        output(what, got);
    };
    work(pressure_work<true>, true, "work_predicted");
    work(pressure_work<false>, false, "work");

    prepare();
    volume_fluxes<<<dim3((plane.nx + 1 + 63) / 64, (plane.ny + 1 + 3) / 4), block>>>(
        plane, step, xarea.data(), yarea.data(), vx0.data(), vy0.data(), vx1.data(), vy1.data(), xflux.data(),
        yflux.data());
    finish("volume fluxes");
    const auto fx = xflux.values();
    for_cells(plane, [&](int x, int y) {
        const int i = plane.at(x, y), up = i + plane.pitch;
        check(near(fx[i], 0.25 * step * dy * (fluid.vx0[i] + fluid.vx0[up] + fluid.vx1[i] + fluid.vx1[up])),
              "volume fluxes");
    });
    output("volume_fluxes", yflux);

    std::vector<double> widths(plane.nx + 5);
    for (std::size_t x = 0; x < widths.size(); ++x)
        widths[x] = dx * (1.0 + 0.001 * static_cast<double>(x % 7));
    const Array<double> width_array(widths);
    prepare();
    donor_fluxes<<<dim3((plane.nx + 1 + 31) / 32, (plane.ny + 7) / 8), dim3(32, 8)>>>(
        plane, width_array.data(), xflux.data(), density.data(), energy.data(), volume.data(), mass.data(),
        energy_flux.data());
    finish("donor fluxes");
    const auto m = mass.values(), ef = energy_flux.values();
    for_cells(plane, [&](int x, int y) {
        const int i = plane.at(x, y);
        const double2 both =
            donated(plane, widths.data(), fx.data(), r.data(), e.data(), fluid.volume.data(), x, i);
        check(near(m[i], both.x) && near(ef[i], both.y), "donor fluxes");
    });
    output("donor_fluxes", m);

    prepare();
    advect<<<dim3((plane.nx + 255) / 256, plane.ny), 256>>>(
        plane, xflux.data(), mass.data(), energy_flux.data(), volume.data(), density.data(), energy.data());
    finish("advect");
    const auto moved = density.values(), heated = energy.values();
    for_cells(plane, [&](int x, int y) {
        const int i = plane.at(x, y);
        const double before = r[i] * cell_volume, after = before + m[i] - m[i + 1];
        check(near(moved[i], after / (cell_volume + fx[i] - fx[i + 1])), "advected density");
        check(near(heated[i], (e[i] * before + ef[i] - ef[i + 1]) / after), "advected energy");
    });
    output("advected", heated);
}

void hexahedra() {
    const int side = 76, line = side + 1, elements = side * side * side, nodes = line * line * line;
    std::vector<double> places[3];
    for (int i = 0; i < nodes; ++i)
        for (int d = 0; d < 3; ++d)
            places[d].push_back(0.015 * (d == 0   ? i % line
                                         : d == 1 ? i / line % line
                                                  : i / line / line) +
                                0.002 * random_float(10 + d, i));
    std::vector<int> list, starts(nodes + 1), corners(static_cast<std::size_t>(elements) * 8);
    for (int e = 0; e < elements; ++e) {
        const int first = (e / side / side * line + e / side % side) * line + e % side, above = line * line;
        for (const int node : {first, first + 1, first + line + 1, first + line, first + above,
                               first + above + 1, first + above + line + 1, first + above + line}) {
            list.push_back(node);
            ++starts[node + 1];
        }
    }
    for (int i = 0; i < nodes; ++i) starts[i + 1] += starts[i];
    std::vector<int> filled(starts.begin(), starts.end() - 1);
    for (std::size_t c = 0; c < list.size(); ++c) corners[filled[list[c]]++] = static_cast<int>(c);
    const std::vector<double> reference(elements, 0.015 * 0.015 * 0.015);
    const auto stress = random_values<double>(elements, 15);
    auto masses = random_values<double>(nodes, 16);
    for (double& value : masses) value = 2.0 + value;

    const Array<int> node_list(list), start_array(starts), corner_array(corners);
    const Array<double> x(places[0]), y(places[1]), z(places[2]), reference_array(reference),
        stress_array(stress), mass_array(masses);
    const Array<double> relative(elements), length(elements), forces(list.size() * 3);
    prepare();
    volumes_of_elements<<<(elements + 127) / 128, 128>>>(node_list.data(), x.data(), y.data(), z.data(),
                                                         reference_array.data(), relative.data(),
                                                         length.data(), elements);
    finish("volumes of elements");
    prepare();
    stress_to_corners<<<(elements + 63) / 64, 64>>>(node_list.data(), x.data(), y.data(), z.data(),
                                                    stress_array.data(), forces.data(), elements);
    finish("stress to corners");
    const auto v = relative.values(), f = forces.values();
    double total = 0.0;
    for (int e = 0; e < elements; e += 101) {
        double px[8], py[8], pz[8], fx[8], fy[8], fz[8];
        for (int k = 0; k < 8; ++k) {
            px[k] = places[0][list[8 * e + k]];
            py[k] = places[1][list[8 * e + k]];
            pz[k] = places[2][list[8 * e + k]];
        }
        check(std::fabs(v[e] - hexahedron(px, py, pz) / reference[e]) < 1e-10, "volumes of elements");
        corner_forces(px, py, pz, stress[e], fx, fy, fz);
        for (int k = 0; k < 8; ++k)
            check(std::fabs(f[8 * e + k] - fx[k]) < 1e-15 &&
                      std::fabs(f[2 * list.size() + 8 * e + k] - fz[k]) < 1e-15,
                  "stress to corners");
    }
    for (const double value : v) total += value;
    check(std::fabs(total / elements - 1.0) < 0.01, "whole volume");
    output("volumes", v);
    output("lengths", length);
    output("corner_forces", f);

    Array<double> speeds(static_cast<std::size_t>(nodes) * 3);
    prepare();
    move_nodes<<<(nodes + 255) / 256, 256>>>(start_array.data(), corner_array.data(), forces.data(),
                                             mass_array.data(), speeds.data(), 50.0, nodes,
                                             static_cast<int>(list.size()));
    finish("move nodes");
    const auto moved = speeds.values();
    for (int node = 0; node < nodes; node += 7) {
        double sum = 0.0;
        for (int k = starts[node]; k < starts[node + 1]; ++k) sum += f[corners[k]];
        const double speed = 50.0 * sum / masses[node];
        check(std::fabs(moved[node] - speed) < 1.1e-7, "move nodes");
    }
    output("node_speeds", moved);
}

void body() {
    plane_of_cells();
    hexahedra();
}

int main() {
    return run(body);
}
