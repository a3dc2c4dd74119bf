// Predictions of recorded rows by an engine: one GPU sheet and one workloads::Predictor for each GPU in the
// rows. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/setting.hpp"
#include "model/prediction/engine.hpp"
#include "validate/row_predictor.hpp"
#include "workloads/registry/registry.hpp"

#include <map>
#include <memory>
#include <span>

namespace warptime::validate {

class EngineRowPredictor : public RowPredictor {
  public:
    /// `settings` change every GPU before use. `chooser` scores what a library might launch (null: `engine`),
    /// so that a slow engine is asked once a row and both predict the same kernel. All engines must outlive
    /// this.
    explicit EngineRowPredictor(const model::prediction::Engine& engine,
                                std::span<const hw::Setting> settings = {},
                                const model::prediction::Engine* chooser = nullptr);
    ~EngineRowPredictor() override;

    /// From now on the constants of one GPU are those of a calibration text (hw/calibrations/<gpu>.toml)
    /// instead of the embedded one's; settings come after. Throws Error for a text that cannot be read.
    void replace_calibration(const std::string& text, const std::string& name);

    /// From now on kernels have the registers and the shared memory that their compiler gave them, where a
    /// row tells, instead of what is estimated.
    void take_compiled_resources() { as_compiled_ = true; }

    /// From now on a library's kernels are those that ran, where a row's steps name one of a known family,
    /// instead of those that the library is expected to choose.
    void take_kernels_that_ran() { as_ran_ = true; }

    [[nodiscard]] std::string name() const override;
    [[nodiscard]] RowPrediction predict(const RecordedRow& row) override;
    [[nodiscard]] std::vector<std::pair<std::string, double>> counters(const RecordedRow& row) override;
    [[nodiscard]] ConstantCount constants(std::string_view gpu,
                                          std::span<const RecordedRow* const> rows) override;

  private:
    struct Chip;
    [[nodiscard]] Chip& chip_of(std::string_view gpu);
    [[nodiscard]] workloads::Operation asked_of(const RecordedRow& row) const;
    /// The program of the kernels that ran; null: a choice is predicted, too.
    [[nodiscard]] const model::kernel::Program* program_that_ran(const RecordedRow& row);
    [[nodiscard]] RowPrediction predict_microbenchmark(const RecordedRow& row);
    [[nodiscard]] model::prediction::Prediction explain(const RecordedRow& row);

    const model::prediction::Engine* engine_;
    const model::prediction::Engine* chooser_;
    std::vector<hw::Setting> settings_;
    bool as_compiled_ = false;
    bool as_ran_ = false;
    std::string calibrated_gpu_;
    std::string calibration_;
    std::map<std::string, std::unique_ptr<Chip>, std::less<>> chips_;
};

}  // namespace warptime::validate
