// A GPU with the working memory of its predictions, for any number of threads.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/sheet.hpp"
#include "workloads/predict.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace warptime::python {

/// Names and values in the program's form.
using Texts = std::map<std::string, std::string, std::less<>>;

/// The conditions. Throws Error for conditions that the GPU cannot have.
[[nodiscard]] model::prediction::Conditions conditions_of(const Texts& texts, const hw::Gpu& gpu);

/// Whether the L2 is as the operations before have left it: without `cache`, or where it is `chain`, which is
/// taken out.
[[nodiscard]] bool take_chain(Texts& texts);

/// Lends a Predictor to one user at a time and keeps returned ones. Later calls then parse and allocate
/// nothing again.
class Model {
  public:
    /// A Predictor and the engines that it refers to.
    struct Session {
        std::unique_ptr<model::prediction::Engine> engine;
        std::unique_ptr<model::prediction::Engine> chooser;
        std::unique_ptr<workloads::Predictor> predictor;
    };
    class Lease {
      public:
        Lease(Model& owner, std::string engine);
        ~Lease();
        Lease(const Lease&) = delete;
        Lease& operator=(const Lease&) = delete;
        [[nodiscard]] const model::prediction::Engine& engine() const { return *session_.engine; }
        [[nodiscard]] workloads::Predictor& predictor() const { return *session_.predictor; }

      private:
        Model* owner_;
        std::string name_;
        Session session_;
    };

    Model(const std::string& id_or_path, const std::vector<std::string>& settings);

    [[nodiscard]] const hw::Gpu& gpu() const { return gpu_; }

  private:
    hw::Gpu gpu_;
    std::mutex mutex_;
    std::map<std::string, std::vector<Session>> idle_;  ///< by engine
};

}  // namespace warptime::python
