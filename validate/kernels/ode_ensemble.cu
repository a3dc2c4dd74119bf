// Many small systems of ordinary differential equations in double precision: Lorenz's by fixed steps with one
// and two systems a thread, five bodies a system by eight lanes, and a stiff oscillator by steps that adapt.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int bodies = 5;

template <class T>
struct State {
    T x, y, z;
};

template <class T>
__host__ __device__ State<T> slope(const State<T>& s, T rho) {
    return {T(10) * (s.y - s.x), s.x * (rho - s.z) - s.y, s.x * s.y - T(8.0 / 3.0) * s.z};
}
template <class T>
__host__ __device__ State<T> moved(const State<T>& s, const State<T>& by, T h) {
    return {s.x + h * by.x, s.y + h * by.y, s.z + h * by.z};
}
/// A step of Runge and Kutta.
template <class T>
__host__ __device__ State<T> stepped(const State<T>& s, T rho, T h) {
    const State<T> a = slope(s, rho), b = slope(moved(s, a, h / 2), rho), c = slope(moved(s, b, h / 2), rho),
                   d = slope(moved(s, c, h), rho);
    const T sixth = h * T(1.0 / 6.0);
    return {s.x + sixth * (a.x + 2 * (b.x + c.x) + d.x), s.y + sixth * (a.y + 2 * (b.y + c.y) + d.y),
            s.z + sixth * (a.z + 2 * (b.z + c.z) + d.z)};
}

/// Systems lie by components; `own` of them a thread.
template <class T, int own>
__global__ void lorenz(const T* start, const T* rhos, T* end, int count, int steps, T h) {
    const int first = blockIdx.x * blockDim.x + threadIdx.x, threads = count / own;
    if (first >= threads) return;
    State<T> states[own];
    T rho[own];
#pragma unroll
    for (int k = 0; k < own; ++k) {
        const int i = first + k * threads;
        states[k] = {start[i], start[count + i], start[2 * count + i]};
        rho[k] = rhos[i];
    }
    for (int step = 0; step < steps; ++step) {
#pragma unroll
        for (int k = 0; k < own; ++k) states[k] = stepped(states[k], rho[k], h);
    }
#pragma unroll
    for (int k = 0; k < own; ++k) {
        const int i = first + k * threads;
        end[i] = states[k].x;
        end[count + i] = states[k].y;
        end[2 * count + i] = states[k].z;
    }
}

/// The first way: every step goes through global memory.
template <class T>
__global__ void lorenz_step(T* values, const T* rhos, int count, T h) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const State<T> next = stepped(State<T>{values[i], values[count + i], values[2 * count + i]}, rhos[i], h);
    values[i] = next.x;
    values[count + i] = next.y;
    values[2 * count + i] = next.z;
}

/// Five bodies of a system in the first five of eight lanes; places go round by shuffles. Leapfrog.
template <class T>
__global__ void five_bodies(const T* places, const T* speeds, T* end, int systems, int steps, T h) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x, i = thread / 8, lane = thread % 8;
    if (i >= systems) return;  // Whole warps.
    const int body = (i * bodies + min(lane, bodies - 1)) * 3;
    T at[3], speed[3];
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
        at[axis] = places[body + axis];
        speed[axis] = speeds[body + axis];
    }
    for (int step = 0; step < steps; ++step) {
        T pull[3] = {};
#pragma unroll
        for (int k = 0; k < bodies; ++k) {
            T apart[3], squared = T(0.05);
#pragma unroll
            for (int axis = 0; axis < 3; ++axis) {
                apart[axis] = __shfl_sync(0xffffffffU, at[axis], k, 8) - at[axis];
                squared += apart[axis] * apart[axis];
            }
            const T factor = T(1) / (squared * sqrt(squared));
#pragma unroll
            for (int axis = 0; axis < 3; ++axis) pull[axis] += factor * apart[axis];
        }
#pragma unroll
        for (int axis = 0; axis < 3; ++axis) {
            speed[axis] += h * pull[axis];
            at[axis] += h * speed[axis];
        }
    }
    if (lane >= bodies) return;
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) end[body + axis] = at[axis];
}

/// Van der Pol's oscillator by Heun's and Euler's steps, whose difference sets the next one: threads need
/// steps of their own number.
template <class T>
__host__ __device__ int oscillate(T& x, T& v, T damping, T until) {
    T time = 0, h = T(0.01);
    int steps = 0;
    while (time < until && steps < 4000) {
        h = h < until - time ? h : until - time;
        const T a = damping * (1 - x * x) * v - x;
        const T other_x = x + h * v, other_v = v + h * a;
        const T b = damping * (1 - other_x * other_x) * other_v - other_x;
        const T error = T(0.5) * h * (fabs(other_v - v) + fabs(b - a)) + T(1e-12);
        ++steps;
        if (error < T(1e-3)) {
            x += T(0.5) * h * (v + other_v);
            v += T(0.5) * h * (a + b);
            time += h;
        }
        const T growth = T(0.9) * sqrt(T(1e-3) / error);
        h *= growth < T(0.3) ? T(0.3) : growth > 3 ? T(3) : growth;
    }
    return steps;
}
template <class T>
__global__ void adapt(const T* dampings, T* end, int* steps, int count, T until) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    T x = 2, v = 0;
    steps[i] = oscillate(x, v, dampings[i], until);
    end[i] = x;
}

template <class T>
void all_of(int count, int steps, int threads, const std::string& type) {
    auto numbers = random_values<T>(static_cast<std::size_t>(count) * 3, 1),
         rho_numbers = random_values<T>(count, 2);
    for (int i = 0; i < count; ++i) {
        numbers[2 * static_cast<std::size_t>(count) + i] += 20;
        rho_numbers[i] = 24 + 4 * rho_numbers[i];
    }
    const T h = T(0.002);
    const double tolerance = sizeof(T) == 8 ? 1e-9 : 1e-3;
    const Array<T> start(numbers), rhos(rho_numbers);
    Array<T> end(numbers.size());
    const auto look = [&](const char* what, int turns, const Array<T>& values) {
        finish(what);
        const auto found = values.values();
        for (int i = 0; i < count; i += 97) {
            State<double> state{numbers[i], numbers[count + i],
                                numbers[2 * static_cast<std::size_t>(count) + i]};
            for (int k = 0; k < turns; ++k) state = stepped<double>(state, rho_numbers[i], h);
            check(std::fabs(found[i] - state.x) < tolerance * 30 &&
                      std::fabs(found[2 * static_cast<std::size_t>(count) + i] - state.z) < tolerance * 30,
                  what);
        }
        output((what + ("_" + type)).c_str(), found);
    };
    prepare();
    lorenz<T, 1><<<(count + threads - 1) / threads, threads>>>(start.data(), rhos.data(), end.data(), count,
                                                               steps, h);
    look("one", steps, end);
    end.zero();
    prepare();
    lorenz<T, 2><<<(count / 2 + threads - 1) / threads, threads>>>(start.data(), rhos.data(), end.data(),
                                                                   count, steps, h);
    look("two", steps, end);
    Array<T> values(numbers);
    for (int turn = 0; turn < 2; ++turn) {
        prepare();
        lorenz_step<<<(count + 255) / 256, 256>>>(values.data(), rhos.data(), count, h);
        finish("step");
    }
    look("step", 2, values);

    const int systems = count / 4;
    const auto places = random_values<T>(static_cast<std::size_t>(systems) * bodies * 3, 3);
    const auto speeds = random_values<T>(places.size(), 4);
    const Array<T> place_array(places), speed_array(speeds);
    Array<T> moved_places(places.size());
    const int turns = steps / 4;
    prepare();
    five_bodies<<<(systems * 8 + threads - 1) / threads, threads>>>(place_array.data(), speed_array.data(),
                                                                    moved_places.data(), systems, turns, h);
    finish("bodies");
    const auto found = moved_places.values();
    for (int i = 0; i < systems; i += 61) {
        double at[bodies][3], speed[bodies][3];
        for (int k = 0; k < bodies * 3; ++k) {
            at[k / 3][k % 3] = places[i * bodies * 3 + k];
            speed[k / 3][k % 3] = speeds[i * bodies * 3 + k];
        }
        for (int turn = 0; turn < turns; ++turn) {
            for (int k = 0; k < bodies; ++k) {
                for (int other = 0; other < bodies; ++other) {
                    double apart[3], squared = 0.05;
                    for (int axis = 0; axis < 3; ++axis) {
                        apart[axis] = at[other][axis] - at[k][axis];
                        squared += apart[axis] * apart[axis];
                    }
                    for (int axis = 0; axis < 3; ++axis)
                        speed[k][axis] += h * apart[axis] / (squared * std::sqrt(squared));
                }
            }
            for (int k = 0; k < bodies * 3; ++k) at[k / 3][k % 3] += h * speed[k / 3][k % 3];
        }
        for (int k = 0; k < bodies * 3; ++k)
            check(std::fabs(found[i * bodies * 3 + k] - at[k / 3][k % 3]) < tolerance * 10, "bodies");
    }
    output(("bodies_" + type).c_str(), found);

    auto dampings = random_values<T>(count, 5);
    for (T& damping : dampings) damping = T(1.5) + damping;
    const Array<T> damping_array(dampings);
    Array<int> step_array(count);
    Array<T> swing(count);
    prepare();
    adapt<<<(count + threads - 1) / threads, threads>>>(damping_array.data(), swing.data(), step_array.data(),
                                                        count, T(1.5));
    finish("adapt");
    const auto swung = swing.values();
    for (int i = 0; i < count; i += 31) {
        double x = 2, v = 0;
        oscillate<double>(x, v, dampings[i], 1.5);
        check(std::fabs(x - swung[i]) < 2e-3, "adapt");
    }
    output(("swung_" + type).c_str(), swung);
    const auto taken = step_array.values();
    output(("steps_" + type).c_str(), std::vector<float>(taken.begin(), taken.end()));
}

void body() {
    all_of<double>(65536, 120, 128, "double");
    all_of<float>(65536, 40, 128, "float");
    all_of<double>(4096, 100, 64, "few_doubles");
}

int main() {
    return run(body);
}
