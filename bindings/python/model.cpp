// SPDX-License-Identifier: Apache-2.0
#include "bindings/python/model.hpp"

#include "bindings/engines/engines.hpp"
#include "hw/error.hpp"
#include "workloads/condition_values.hpp"

namespace warptime::python {

namespace {

hw::Gpu load(const std::string& id_or_path, const std::vector<std::string>& texts) {
    std::vector<hw::Setting> settings;
    for (const std::string& text : texts) {
        settings.push_back(hw::parse_setting(text));
        if (settings.back().scope != hw::Setting::Scope::gpu) {
            throw Error("changes", text, "a key of the GPU; a kernel's numbers are keywords of predict");
        }
    }
    return hw::load_gpu(id_or_path, settings);
}

}  // namespace

model::prediction::Conditions conditions_of(const Texts& texts, const hw::Gpu& gpu) {
    model::prediction::Conditions conditions;
    for (const auto& [name, text] : texts) {
        workloads::set_condition(conditions, name, text);
    }
    workloads::check_conditions(conditions, gpu);
    return conditions;
}

bool take_chain(Texts& texts) {
    const auto cache = texts.find("cache");
    if (cache == texts.end()) return true;
    if (cache->second != "chain") return false;
    texts.erase(cache);
    return true;
}

Model::Model(const std::string& id_or_path, const std::vector<std::string>& settings)
    : gpu_(load(id_or_path, settings)) {}

Model::Lease::Lease(Model& owner, std::string engine) : owner_(&owner), name_(std::move(engine)) {
    {
        const std::lock_guard lock(owner.mutex_);
        std::vector<Session>& idle = owner.idle_[name_];
        if (!idle.empty()) {
            session_ = std::move(idle.back());
            idle.pop_back();
            return;
        }
    }
    session_.engine = engines::make_engine(name_);
    session_.chooser = engines::make_engine(engines::default_engine);
    session_.predictor =
        std::make_unique<workloads::Predictor>(*session_.engine, owner.gpu_, session_.chooser.get());
}

Model::Lease::~Lease() {
    const std::lock_guard lock(owner_->mutex_);
    owner_->idle_[name_].push_back(std::move(session_));
}

}  // namespace warptime::python
