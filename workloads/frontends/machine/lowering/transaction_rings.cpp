// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/lowering/transaction_rings.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace warptime::workloads::frontends::machine {

namespace {

constexpr std::uint32_t barrier_bytes = 8;

/// Addresses that instructions share, as sets that grow together.
class Groups {
  public:
    std::size_t of(std::uint32_t address) {
        const auto [known, fresh] = member_.emplace(address, parent_.size());
        if (fresh) {
            parent_.push_back(parent_.size());
        }
        return root(known->second);
    }
    void join(std::uint32_t a, std::uint32_t b) {
        const std::size_t first = of(a);
        parent_[of(b)] = first;
    }
    [[nodiscard]] const std::map<std::uint32_t, std::size_t>& addresses() const { return member_; }

  private:
    std::size_t root(std::size_t i) {
        while (parent_[i] != i) {
            i = parent_[i] = parent_[parent_[i]];
        }
        return i;
    }
    std::map<std::uint32_t, std::size_t> member_;
    std::vector<std::size_t> parent_;
};

/// What happened at the barriers of a ring.
struct Use {
    std::set<std::uint32_t> addresses;
    std::set<std::uint32_t> fresh_odd;  ///< addresses whose first wait was for the odd phase
    double arrivals = 0.0;
    double phases = 0.0;
    std::set<int> waiting;   ///< warps
    std::set<int> arriving;  ///< warps

    [[nodiscard]] std::int32_t arrivals_of_phase() const {
        return std::max(1, static_cast<std::int32_t>(std::lround(arrivals / phases)));
    }
    [[nodiscard]] bool free_first() const { return !fresh_odd.empty(); }
};

/// Stages of one ring, whose barriers lie side by side: the same warps use them in the same way. Code that is
/// unrolled by stages has instructions of its own for each.
bool continues(const Use& ring, const Use& next) {
    return *ring.addresses.rbegin() + barrier_bytes == *next.addresses.begin() &&
           ring.arrivals_of_phase() == next.arrivals_of_phase() && ring.free_first() == next.free_first() &&
           ring.waiting == next.waiting && ring.arriving == next.arriving;
}

template <class Body>
void for_each_event(const TraceRecorder& trace, const std::vector<int>& members, Body body) {
    for (const auto& cta : trace.ctas()) {
        for (std::size_t w = 0; w < members.size(); ++w) {
            const WarpTrace& warp = cta->warps[static_cast<std::size_t>(members[w])];
            for (const BarrierEvent& event : warp.barriers) {
                body(warp, static_cast<int>(w), event);
            }
        }
    }
}

}  // namespace

TransactionRings transaction_rings(const TraceRecorder& trace, const std::vector<RoleBody>& roles) {
    Groups groups;
    std::map<std::uint32_t, std::uint32_t> address_of;  // Any one, by instruction.
    for (const RoleBody& role : roles) {
        for_each_event(trace, role.warps, [&](const WarpTrace&, int, const BarrierEvent& event) {
            const auto known = address_of.emplace(event.instruction, event.address).first;
            groups.join(known->second, event.address);
        });
    }
    std::map<std::size_t, Use> uses;
    for (const RoleBody& role : roles) {
        const std::map<std::uint32_t, Elected> elected = elected_in(trace, role);
        std::set<std::pair<const WarpTrace*, std::uint32_t>> waited;
        for_each_event(trace, role.warps, [&](const WarpTrace& warp, int, const BarrierEvent& event) {
            Use& use = uses[groups.of(event.address)];
            use.addresses.insert(event.address);
            if (event.action == BarrierAction::wait) {
                use.waiting.insert(warp.warp);
                if (waited.insert({&warp, event.address}).second && event.odd_phase) {
                    use.fresh_odd.insert(event.address);
                }
                return;
            }
            const auto part = elected.find(event.instruction);
            use.arrivals += part == elected.end() ? 1.0 : 1.0 / static_cast<double>(part->second.warps);
            use.arriving.insert(warp.warp);
            use.phases += event.ends_phase ? 1.0 : 0.0;
        });
    }
    std::vector<std::pair<std::size_t, const Use*>> used;  // By the first address.
    for (const auto& [group, use] : uses) {
        if (use.phases > 0.0 && !use.waiting.empty()) {
            used.emplace_back(group, &use);
        }
    }
    std::ranges::sort(used, {}, [](const auto& one) { return *one.second->addresses.begin(); });
    TransactionRings result;
    std::map<std::size_t, std::size_t> numbers;  // Of rings, by group.
    const Use* before = nullptr;
    for (const auto& [group, use] : used) {
        if (before == nullptr || !continues(*before, *use)) {
            result.rings.push_back({0, 0, use->arrivals_of_phase()});
        }
        before = use;
        result.rings.back().stages += static_cast<std::int32_t>(use->addresses.size());
        result.rings.back().free += static_cast<std::int32_t>(use->fresh_odd.size());
        numbers[group] = result.rings.size() - 1;
    }
    for (const auto& [instruction, address] : address_of) {
        const auto known = numbers.find(groups.of(address));
        if (known != numbers.end()) {
            result.ring_of[instruction] = known->second;
        }
    }
    return result;
}

std::map<std::uint32_t, Elected> elected_in(const TraceRecorder& trace, const RoleBody& role) {
    struct Doing {
        std::set<int> warps;
        double times = 0.0;
    };
    std::map<std::uint32_t, Doing> doing;
    for_each_event(trace, role.warps, [&](const WarpTrace&, int w, const BarrierEvent& event) {
        // A copy tells of its bytes at the barrier and, once more, of its access.
        if (event.action != BarrierAction::copied_bytes) {
            Doing& own = doing[event.instruction];
            own.warps.insert(w);
            own.times += 1.0;
        }
    });
    std::set<std::pair<const WarpTrace*, std::uint32_t>> counted;
    for (const auto& cta : trace.ctas()) {
        for (std::size_t w = 0; w < role.warps.size(); ++w) {
            const WarpTrace& warp = cta->warps[static_cast<std::size_t>(role.warps[w])];
            for (const TracedAccess& access : warp.accesses) {
                if (access.event.bulk_bytes > 0) {
                    const std::uint32_t instruction = access.event.instruction;
                    Doing& own = doing[instruction];
                    own.warps.insert(static_cast<int>(w));
                    if (counted.insert({&warp, instruction}).second) {
                        own.times += static_cast<double>(warp.made[instruction]);
                    }
                }
            }
        }
    }
    std::map<std::uint32_t, Elected> elected;
    for (const auto& [instruction, own] : doing) {
        if (own.warps.size() < role.warps.size()) {
            elected[instruction] = {
                *own.warps.begin(), own.warps.size(),
                own.times /
                    static_cast<double>(own.warps.size() * std::max<std::size_t>(1, trace.ctas().size()))};
        }
    }
    return elected;
}

}  // namespace warptime::workloads::frontends::machine
