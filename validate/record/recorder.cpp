// The order of a recording: look at what is here and what is left, compile, then take turns.
// The turns go on until all suites are done or the time is over.
// SPDX-License-Identifier: Apache-2.0
#include "validate/record/recorder.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "validate/record/finished_suites.hpp"
#include "validate/record/row_store.hpp"
#include "validate/record/suite_list.hpp"
#include "validate/record/suite_run.hpp"
#include "validate/record/toolchain.hpp"
#include "validate/replace_file.hpp"
#include "workloads/frontends/process/temporary_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace warptime::validate::record {
namespace {

namespace fs = std::filesystem;
using Seconds = std::chrono::duration<double>;
using process::Clock;

/// Time that a program gets beyond its own limit, for its last case and its end.
constexpr double grace_s = 6.0;
/// A turn shorter than this would be spent on starting up.
constexpr double shortest_turn_s = 5.0;

Clock::duration seconds(double value) {
    return std::chrono::duration_cast<Clock::duration>(Seconds(value));
}

class Recording {
  public:
    Recording(const RecordOptions& options, Clock::time_point start)
        : options_(&options), end_(start + seconds(options.budget_s)) {}

    RecordResult run() {
        const std::vector<Suite> all = read_suites(options_->sources);
        suites_ = choose_suites(all, options_->suites);
        result_.board = find_board();
        result_.gpu = sheet_of(result_.board, options_->gpu);
        const hw::Gpu gpu = hw::load_gpu(result_.gpu);
        capability_ = gpu.compute_major * 10 + gpu.compute_minor;
        RowStore store(options_->output, options_->resume, result_.gpu);
        FinishedSuites finished(options_->output, options_->resume);
        for (const Suite& suite : suites_) {
            result_.suites.push_back({suite.name, SuiteState::time_over, 0, 0, 0, ""});
            fingerprints_.push_back(fingerprint_of(suite, options_->sources));
            if (finished.has(suite.name, fingerprints_.back(), known_rows(suite, store)))
                result_.suites.back().state = SuiteState::complete;
        }
        leave_out_what_cannot_run();
        store.write();  // fails now, not after the first suite, for a folder that cannot be written
        record_all(store, finished);
        for (std::size_t i = 0; i < suites_.size(); ++i)
            result_.suites[i].rows = known_rows(suites_[i], store);
        result_.interrupted = options_->interrupted();
        return std::move(result_);
    }

  private:
    static std::size_t known_rows(const Suite& suite, const RowStore& store) {
        std::size_t rows = 0;
        for (const std::string& name : suite.suites) rows += store.rows_of(name);
        return rows;
    }

    [[nodiscard]] double left() const { return Seconds(end_ - Clock::now()).count(); }

    [[nodiscard]] bool is_open(std::size_t i) const {
        return result_.suites[i].state == SuiteState::time_over;
    }

    void leave_out_what_cannot_run() {
        std::map<std::string, bool> here;
        bool any = false;
        for (std::size_t i = 0; i < suites_.size(); ++i) {
            const Suite& suite = suites_[i];
            SuiteOutcome& outcome = result_.suites[i];
            any = any || outcome.state == SuiteState::complete;
            if (!is_open(i)) continue;
            std::string lacking;
            if (suite.capability > capability_) {
                lacking =
                    fmt::format("compute capability {}.{}", suite.capability / 10, suite.capability % 10);
            }
            for (const std::string& need : suite.needs) {
                if (here.find(need) == here.end()) here[need] = is_here(need);
                if (lacking.empty() && !here[need]) lacking = how_to_have(need);
            }
            if (lacking.empty()) {
                any = true;
                continue;
            }
            const bool by_name = std::find(options_->suites.begin(), options_->suites.end(), suite.name) !=
                                 options_->suites.end();
            if (by_name) throw Error(suite.name, "what it needs is not here", lacking);
            outcome.state = SuiteState::missing;
            outcome.message = "needs " + lacking;
            options_->say(fmt::format("{}: left out, needs {}", suite.name, lacking));
        }
        if (!any) {
            throw Error("--suite", fmt::format("{}", fmt::join(options_->suites, ",")),
                        result_.suites.front().message.substr(6));
        }
    }

    void compile() {
        std::vector<Suite> open;
        for (std::size_t i = 0; i < suites_.size(); ++i) {
            if (is_open(i) && !suites_[i].probe.empty()) open.push_back(suites_[i]);
        }
        if (open.empty()) return;
        const fs::path folder = options_->probes.empty() ? scratch_.path() : options_->probes;
        fs::create_directories(folder);
        const Toolchain toolchain = find_toolchain(find_nvcc(), capability_, scratch_.path());
        options_->say(fmt::format("compiling {} probes with {}, {}", open.size(), toolchain.nvcc,
                                  toolchain.cupti.empty() ? "without CUPTI: durations come from events"
                                                          : "CUPTI " + toolchain.cupti));
        std::size_t count = 0;
        built_ = build_probes(
            toolchain, open, options_->sources, folder,
            [&](const std::string& name) {
                options_->say(fmt::format("compiled {} ({}/{})", name, ++count, open.size()));
            },
            [&] { return !options_->interrupted() && left() > 0.0; });
        for (std::size_t i = 0; i < suites_.size(); ++i) {
            const auto found = built_.find(suites_[i].name);
            if (found == built_.end() || found->second.failure.empty()) continue;
            if (options_->interrupted() || left() <= 0.0) continue;  // the compiler was stopped
            result_.suites[i].state = SuiteState::failed;
            result_.suites[i].message = "does not compile: " + found->second.failure;
            options_->say(fmt::format("{}: does not compile\n{}", suites_[i].name, found->second.failure));
        }
    }

    void record_all(RowStore& store, FinishedSuites& finished) {
        compile();
        ReasonReader reasons(result_.board);
        if (!reasons.read())
            options_->say("this driver tells no reasons for lower clocks: rows are taken as they are");
        // Every suite first gets its share. The rest of the budget goes round again.
        for (bool progress = true; progress;) {
            progress = false;
            for (std::size_t i = 0; i < suites_.size(); ++i) {
                // A suite whose clocks were held down would only heat the chip further.
                if (!is_open(i) || result_.suites[i].refused > 0 || options_->interrupted() ||
                    left() < shortest_turn_s)
                    continue;
                const std::size_t before = result_.suites[i].added;
                turn(i, store, reasons);
                progress = progress || result_.suites[i].added > before;
                if (result_.suites[i].state == SuiteState::complete)
                    finished.add(suites_[i].name, fingerprints_[i], known_rows(suites_[i], store));
            }
        }
    }

    void turn(std::size_t i, RowStore& store, ReasonReader& reasons) {
        const Suite& suite = suites_[i];
        SuiteOutcome& outcome = result_.suites[i];
        const std::size_t before = outcome.added;
        const double share = std::min(suite.seconds, std::max(1.0, left() - grace_s));
        options_->say(fmt::format("{}: {} rows known, up to {:.0f} s of {:.0f} s left", suite.name,
                                  known_rows(suite, store), share, left()));
        SuiteRun run(suite, *options_, store, reasons, outcome, end_);
        run.run(command_of(suite, store, share), std::min(end_, Clock::now() + seconds(share + grace_s)));
        options_->say(fmt::format("{}: {} new rows, {}{}{}", suite.name, outcome.added - before,
                                  to_string(outcome.state), outcome.message.empty() ? "" : ": ",
                                  outcome.message));
    }

    process::Command command_of(const Suite& suite, const RowStore& store, double share) {
        process::Command command;
        const fs::path known = scratch_.path() / "known.csv";
        const fs::path skip = scratch_.path() / "skip.txt";
        replace_file(known, store.text_of(suite.suites));
        replace_file(skip, store.cases_of(suite.suites));
        const BoardClocks clocks = read_clocks(result_.board);
        command.environment = {{"WARPTIME_GPU", result_.gpu},
                               {"WARPTIME_DRIVER", result_.board.driver},
                               {"WARPTIME_SM_CLOCK", clocks.sm},
                               {"WARPTIME_MEM_CLOCK", clocks.memory},
                               {"WARPTIME_PROBE_SECONDS", fmt::format("{:.0f}", share)},
                               {"WARPTIME_SKIP", skip.string()},
                               {"WARPTIME_HEADER", "0"},
                               {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"},  // as nvidia-smi counts
                               {"PYTHONUNBUFFERED", "1"},
                               {"PYTHONDONTWRITEBYTECODE", "1"}};
        if (!suite.probe.empty()) {
            command.words = {built_.at(suite.name).program.string()};
        } else {
            command.words = suite.command;
            command.words.insert(command.words.end(),
                                 {"--output", "-", "--resume", known.string(), "--budget",
                                  fmt::format("{:.0f}", share), "--gpu", result_.gpu});
            command.directory = options_->sources.string();
        }
        return command;
    }

    const RecordOptions* options_;
    Clock::time_point end_;
    int capability_ = 0;
    RecordResult result_;
    std::vector<Suite> suites_;
    std::vector<std::string> fingerprints_;
    std::map<std::string, Built> built_;
    process::TemporaryFolder scratch_;
};

}  // namespace

RecordResult record(const RecordOptions& options) {
    return Recording(options, Clock::now()).run();
}

}  // namespace warptime::validate::record
