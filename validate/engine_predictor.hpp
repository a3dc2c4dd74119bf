// Predictions of recorded rows by an engine.
// Each GPU in the rows has one GPU sheet and one workloads::Predictor.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/setting.hpp"
#include "model/prediction/engine.hpp"
#include "validate/row_predictor.hpp"
#include "workloads/predict.hpp"
#include "workloads/registry/registry.hpp"

#include <map>
#include <memory>
#include <span>

namespace warptime::validate {

class EngineRowPredictor : public RowPredictor {
  public:
    /// `settings` change every GPU before use. `chooser` scores the kernels that a library might launch
    /// (null: `engine`). So a slow engine is asked once a row, and both engines predict the same kernel. All
    /// engines must outlive this object.
    explicit EngineRowPredictor(const model::prediction::Engine& engine,
                                std::span<const hw::Setting> settings = {},
                                const model::prediction::Engine* chooser = nullptr);
    ~EngineRowPredictor() override;

    /// From now on the constants of one GPU are those of a calibration text (hw/calibrations/<gpu>.toml). The
    /// text replaces the embedded calibration; settings come after. Throws Error for a text that cannot be
    /// read.
    void replace_calibration(const std::string& text, const std::string& name);

    /// From now on kernels have their compiler's registers and shared memory instead of estimates, where a
    /// row tells these.
    void take_compiled_resources() { as_compiled_ = true; }

    /// From now on a library's kernels are those that ran, instead of the expected choice. This holds where a
    /// row's steps name a kernel of a known family.
    void take_kernels_that_ran() { as_ran_ = true; }

    /// What predicts operations on a GPU, with this object's settings and calibration. Throws Error for a
    /// sheet that cannot be loaded.
    [[nodiscard]] workloads::Predictor& predictor_of(std::string_view gpu);

    [[nodiscard]] std::string name() const override;
    [[nodiscard]] RowPrediction predict(const RecordedRow& row) override;
    [[nodiscard]] std::vector<std::pair<std::string, double>> counters(const RecordedRow& row) override;
    [[nodiscard]] ConstantCount constants(std::string_view gpu,
                                          std::span<const RecordedRow* const> rows) override;

  private:
    struct Chip;
    [[nodiscard]] Chip& chip_of(std::string_view gpu);
    [[nodiscard]] workloads::Operation asked_of(const RecordedRow& row) const;
    /// The program of the kernels that ran. Null when the kernel choice is predicted, too.
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
