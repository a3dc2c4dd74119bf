// Ranks the configurations of each shape by prediction and compares the first ones with the fastest measured.
// SPDX-License-Identifier: Apache-2.0
#include "validate/choice_score.hpp"

#include "validate/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace warptime::validate {
namespace {

using Candidates = std::vector<const Candidate*>;

/// Lowest prediction first and refusals last. Among equals, the slowest comes first.
bool ranks_before(const Candidate* a, const Candidate* b) {
    if (a->refused != b->refused) return b->refused;
    if (!a->refused && a->predicted_us != b->predicted_us) return a->predicted_us < b->predicted_us;
    return a->measured_us > b->measured_us;
}

double score_of(const Candidates& ranked, double best_us, std::size_t k) {
    double fastest = ranked.front()->measured_us;
    for (std::size_t i = 1; i < std::min(k, ranked.size()); ++i) {
        fastest = std::min(fastest, ranked[i]->measured_us);
    }
    return best_us / fastest;
}

ShapeChoice choice_of(Candidates& ranked) {
    std::sort(ranked.begin(), ranked.end(), ranks_before);
    const Candidate& chosen = *ranked.front();
    // Among equally fast configurations, the first in rank is the best. A tie in measurement is no fault of
    // the choice.
    const Candidate& best = **std::min_element(
        ranked.begin(), ranked.end(),
        [](const Candidate* a, const Candidate* b) { return a->measured_us < b->measured_us; });
    ShapeChoice choice{chosen.shape, chosen.split, ranked.size()};
    choice.top1 = score_of(ranked, best.measured_us, 1);
    choice.top5 = score_of(ranked, best.measured_us, 5);
    choice.gap =
        chosen.refused || best.refused
            ? 1.0
            : std::abs(best.predicted_us / chosen.predicted_us - best.measured_us / chosen.measured_us);
    return choice;
}

TopFigures top_of(const std::vector<const ShapeChoice*>& choices, double ShapeChoice::*score) {
    std::vector<double> scores;
    for (const ShapeChoice* choice : choices) scores.push_back(choice->*score);
    TopFigures figures{mean(scores), quantile(scores, 0.05), quantile(scores, 0.0), ""};
    const auto worst = std::min_element(
        choices.begin(), choices.end(),
        [score](const ShapeChoice* a, const ShapeChoice* b) { return a->*score < b->*score; });
    if (worst != choices.end()) figures.worst_shape = (*worst)->shape;
    return figures;
}

}  // namespace

std::vector<ShapeChoice> choices_of(std::span<const Candidate> candidates, std::size_t least) {
    std::map<std::string_view, Candidates> shapes;
    for (const Candidate& candidate : candidates) shapes[candidate.shape].push_back(&candidate);
    std::vector<ShapeChoice> choices;
    for (auto& [shape, members] : shapes) {
        if (members.size() >= least) choices.push_back(choice_of(members));
    }
    return choices;
}

ChoiceFigures summarize_choices(std::span<const ShapeChoice> choices, Split split) {
    ChoiceFigures figures;
    figures.split = split;
    std::vector<const ShapeChoice*> mine;
    std::vector<double> gaps;
    for (const ShapeChoice& choice : choices) {
        if (choice.split != split) continue;
        mine.push_back(&choice);
        gaps.push_back(choice.gap);
        figures.configurations += choice.configurations;
    }
    figures.shapes = mine.size();
    figures.top1 = top_of(mine, &ShapeChoice::top1);
    figures.top5 = top_of(mine, &ShapeChoice::top5);
    figures.gap = mean(gaps);
    return figures;
}

}  // namespace warptime::validate
