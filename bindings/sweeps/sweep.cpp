// Threads take chunks of points and hand their rows to the caller, who puts the chunks in order.
// A chunk is short enough that little is lost when the program is killed.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/sweeps/sweep.hpp"

#include "bindings/engines/engines.hpp"
#include "hw/error.hpp"
#include "hw/quantity.hpp"
#include "workloads/batch.hpp"
#include "workloads/condition_values.hpp"
#include "workloads/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace warptime::sweeps {

namespace {

using Clock = std::chrono::steady_clock;
using workloads::BatchColumn;

constexpr std::size_t first_chunk = 16;
constexpr std::size_t largest_chunk = 8192;
constexpr double chunk_seconds = 0.05;
// Chunks that may be finished before the one that is awaited, for each thread.
constexpr std::uint64_t chunks_ahead = 4;
constexpr std::chrono::milliseconds between_checks{100};

/// What the rows of one setup need. Used by one thread.
struct Session {
    std::uint64_t setup = 0;
    std::string engine_name;
    std::shared_ptr<const hw::Gpu> gpu;
    std::unique_ptr<model::prediction::Engine> engine, chooser;
    std::unique_ptr<workloads::Predictor> predictor;
};

/// The values of an axis in a run of points, each distinct word once.
workloads::WordValues words_of(const Axis& axis, std::uint64_t begin, std::size_t count) {
    std::vector<std::int32_t> code_of(axis.values.size(), -1);
    workloads::WordValues words;
    words.codes.reserve(count);
    for (std::size_t row = 0; row < count; ++row) {
        const std::size_t value = Grid::value_at(axis, begin + row);
        if (code_of[value] < 0) {
            code_of[value] = static_cast<std::int32_t>(words.words.size());
            words.words.push_back(axis.values[value]);
        }
        words.codes.push_back(code_of[value]);
    }
    return words;
}

class Worker {
  public:
    Worker(const Grid& grid, bool with_text) : grid_(&grid), with_text_(with_text) {}

    /// Answers points of one setup.
    Rows answer(std::uint64_t begin, std::size_t count) {
        Rows rows;
        rows.begin = begin;
        for (std::vector<double>* times : {&rows.time, &rows.low, &rows.high}) {
            times->assign(count, std::numeric_limits<double>::quiet_NaN());
        }
        rows.limiter.assign(count, 0);
        rows.status.assign(count, 0);
        try {
            predict(session_of(begin / grid_->points_per_setup()), rows);
        } catch (const Error& error) {
            // Of a setup: every row of it has this fault.
            for (std::size_t row = 0; row < count; ++row) rows.errors.emplace_back(row, error.what());
        }
        if (with_text_) write(rows);
        return rows;
    }

  private:
    Session& session_of(std::uint64_t index) {
        if (session_.predictor != nullptr && session_.setup == index) return session_;
        session_ = {};
        const Setup setup = grid_->setup(index);
        session_.engine_name = grid_->engine_of(setup);
        session_.gpu = grid_->gpu_of(setup);
        session_.engine = engines::make_engine(session_.engine_name);
        session_.chooser = engines::make_engine(engines::default_engine);
        session_.predictor =
            std::make_unique<workloads::Predictor>(*session_.engine, *session_.gpu, session_.chooser.get());
        session_.setup = index;
        return session_;
    }

    void predict(Session& session, Rows& rows) {
        std::vector<std::vector<std::int64_t>> numbers(grid_->axes().size());
        std::vector<BatchColumn> columns;
        for (std::size_t i = 0; i < grid_->axes().size(); ++i) {
            const Axis& axis = grid_->axes()[i];
            if (axis.values.size() == 1) {
                columns.push_back({axis.name, axis.values.front()});
            } else if (axis.numbers.empty()) {
                columns.push_back({axis.name, words_of(axis, rows.begin, rows.size())});
            } else {
                for (std::size_t row = 0; row < rows.size(); ++row) {
                    numbers[i].push_back(axis.numbers[Grid::value_at(axis, rows.begin + row)]);
                }
                columns.push_back({axis.name, std::span<const std::int64_t>(numbers[i])});
            }
        }
        workloads::BatchAnswers answers{rows.time, rows.low, rows.high, rows.limiter, rows.status, {}};
        std::optional<workloads::Batch> batch;
        try {
            batch.emplace(grid_->info().name, std::move(columns), *session.predictor);
        } catch (const Error&) {
            predict_each(session, rows);
            return;
        }
        if (batch->rows() == rows.size()) {
            batch->predict(0, rows.size(), answers);
            rows.errors = std::move(answers.errors);
        } else {
            predict_each(session, rows);  // no axis has several values, and the batch has one row
        }
        for (std::uint8_t& status : rows.status) {
            status = static_cast<std::uint8_t>(
                engines::status_of(session.engine_name, static_cast<model::prediction::Status>(status)));
        }
    }

    /// Row by row from text, where a value is refused that all rows of the chunk share.
    void predict_each(Session& session, Rows& rows) {
        rows.errors.clear();
        for (std::size_t row = 0; row < rows.size(); ++row) {
            try {
                std::map<std::string, std::string, std::less<>> parameters;
                model::prediction::Conditions conditions;
                for (const Axis& axis : grid_->axes()) {
                    const std::string& value = axis.values[Grid::value_at(axis, rows.begin + row)];
                    if (value.empty()) continue;
                    if (axis.is_condition) {
                        workloads::set_condition(conditions, axis.name, value);
                    } else {
                        parameters.emplace(axis.name, value);
                    }
                }
                const workloads::Operation operation =
                    workloads::make_operation(grid_->info().name, parameters);
                workloads::check_conditions(conditions, *session.gpu);
                const auto estimate = session.predictor->evaluate(operation, conditions);
                rows.time[row] = estimate.time;
                rows.low[row] = estimate.low;
                rows.high[row] = estimate.high;
                rows.limiter[row] = static_cast<std::uint8_t>(estimate.limiter);
                rows.status[row] = static_cast<std::uint8_t>(
                    engines::status_of(session.engine_name, *session.gpu, conditions, estimate.evidence));
            } catch (const Error& error) {
                rows.errors.emplace_back(row, error.what());
            }
        }
    }

    void write(Rows& rows) const {
        using hw::us_per_s;
        std::size_t failed = 0;
        for (std::size_t row = 0; row < rows.size(); ++row) {
            grid_->append_cells(rows.text, rows.begin + row);
            if (failed < rows.errors.size() && rows.errors[failed].first == row) {
                rows.text += ",,,,,";
                workloads::append_csv_field(rows.text, rows.errors[failed++].second);
                rows.text += '\n';
                continue;
            }
            fmt::format_to(std::back_inserter(rows.text), "{},{},{},{},{},\n", rows.time[row] * us_per_s,
                           rows.low[row] * us_per_s, rows.high[row] * us_per_s,
                           to_string(static_cast<model::prediction::Limiter>(rows.limiter[row])),
                           to_string(static_cast<model::prediction::Status>(rows.status[row])));
        }
    }

    const Grid* grid_;
    bool with_text_;
    Session session_;
};

/// What the threads and the caller share; `mutex` guards all of it.
struct Shared {
    std::mutex mutex;
    std::condition_variable for_workers, for_caller;
    std::uint64_t next = 0;        ///< the first point that no thread has taken
    std::uint64_t next_chunk = 0;  ///< its chunk
    std::uint64_t taken = 0;       ///< chunks that the caller has
    std::map<std::uint64_t, Rows> finished;
    unsigned working = 0;
    bool stop = false;
    std::exception_ptr failure;
};

std::size_t chunk_size_after(std::size_t count, double seconds) {
    const double wanted = static_cast<double>(count) * chunk_seconds / std::max(seconds, 1e-9);
    const double most = std::min(4.0 * static_cast<double>(count), static_cast<double>(largest_chunk));
    return static_cast<std::size_t>(std::clamp(wanted, 1.0, std::max(most, 1.0)));
}

void work(const Grid& grid, const SweepOptions& options, Shared& shared) {
    Worker worker(grid, options.with_text);
    std::size_t size = first_chunk;
    std::unique_lock lock(shared.mutex);
    try {
        for (;;) {
            shared.for_workers.wait(lock, [&] {
                return shared.stop || shared.next >= options.end ||
                       shared.next_chunk < shared.taken + chunks_ahead * options.threads;
            });
            if (shared.stop || shared.next >= options.end) break;
            const std::uint64_t begin = shared.next;
            const std::uint64_t per_setup = grid.points_per_setup();
            const std::uint64_t end =
                std::min({options.end, begin + size, (begin / per_setup + 1) * per_setup});
            shared.next = end;
            const std::uint64_t chunk = shared.next_chunk++;
            lock.unlock();
            const auto begun = Clock::now();
            Rows rows = worker.answer(begin, static_cast<std::size_t>(end - begin));
            const std::chrono::duration<double> seconds = Clock::now() - begun;
            size = chunk_size_after(rows.size(), seconds.count());
            lock.lock();
            shared.finished.emplace(chunk, std::move(rows));
            shared.for_caller.notify_one();
        }
    } catch (...) {
        if (!lock.owns_lock()) lock.lock();
        shared.failure = std::current_exception();
        shared.stop = true;
    }
    --shared.working;
    shared.for_workers.notify_all();
    shared.for_caller.notify_one();
}

/// Stops and joins the threads, however the caller leaves.
class Threads {
  public:
    Threads(const Grid& grid, const SweepOptions& options, Shared& shared) : shared_(&shared) {
        shared.working = options.threads;
        for (unsigned i = 0; i < options.threads; ++i) {
            threads_.emplace_back([&grid, &options, &shared] { work(grid, options, shared); });
        }
    }
    ~Threads() {
        {
            const std::lock_guard lock(shared_->mutex);
            shared_->stop = true;
        }
        shared_->for_workers.notify_all();
        for (std::thread& thread : threads_) thread.join();
    }
    Threads(const Threads&) = delete;
    Threads& operator=(const Threads&) = delete;

  private:
    Shared* shared_;
    std::vector<std::thread> threads_;
};

}  // namespace

unsigned available_threads() {
    return std::max(1U, std::thread::hardware_concurrency());
}

bool sweep(const Grid& grid, const SweepOptions& options) {
    if (options.begin >= options.end) return true;
    Shared shared;
    shared.next = options.begin;
    const Threads threads(grid, options, shared);
    std::uint64_t at = options.begin;
    std::unique_lock lock(shared.mutex);
    while (at < options.end) {
        shared.for_caller.wait_for(lock, between_checks, [&] {
            return shared.failure != nullptr || shared.finished.contains(shared.taken);
        });
        if (shared.failure != nullptr) std::rethrow_exception(shared.failure);
        auto found = shared.finished.extract(shared.taken);
        lock.unlock();
        if (options.interrupted && options.interrupted()) return false;
        if (found) {
            options.take(found.mapped());
            at += found.mapped().size();
        }
        lock.lock();
        if (found) {
            ++shared.taken;
            shared.for_workers.notify_all();
        }
    }
    return true;
}

}  // namespace warptime::sweeps
