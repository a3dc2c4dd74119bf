// Description of a kernel that both engines read: its launch, the memory it touches, and the order of its
// work. README.md of this folder gives the meaning of every field; this file has their types. Flat arrays
// with index ranges and enumerations, no string per op: a Kernel is cleared and refilled without allocation.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/dtype.hpp"
#include "hw/instruction_class.hpp"
#include "model/kernel/evidence.hpp"
#include "model/kernel/index.hpp"
#include "model/kernel/name.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::model::kernel {

using hw::Dtype;
using hw::InstructionClass;

/// Id of another record of the same kernel; -1 is none.
using Id = std::int32_t;
inline constexpr Id no_id = -1;

struct Dim3 {
    std::int64_t x = 1, y = 1, z = 1;
    [[nodiscard]] std::int64_t volume() const { return x * y * z; }
    friend bool operator==(const Dim3&, const Dim3&) = default;
};

// ---- schedule

enum class ScheduleKind : std::uint8_t {
    one_per_cta,
    static_stride,
    dynamic_counter,
    cluster_launch_control,
    listed
};
enum class Raster : std::uint8_t { along_m, along_n };

/// One piece of work: a tile and the range of k-iterations [begin, end) done on it.
struct WorkItem {
    std::array<std::int64_t, 4> tile{};
    std::int64_t begin = 0;
    std::int64_t end = 0;
    Id cta_class = 0;
    std::int32_t problem = 0;
    friend bool operator==(const WorkItem&, const WorkItem&) = default;
};

/// Assignment of tiles to CTAs. tiles = number of tiles along m, n, batch and one spare dimension. raster
/// along_n with group g: g rows of m-tiles form a band; inside a band consecutive items step along m, then n.
/// raster along_m mirrors m and n. split_k cuts the k-iterations of each tile into that many items (the
/// slowest index).
struct Schedule {
    ScheduleKind kind = ScheduleKind::one_per_cta;
    std::array<std::int64_t, 4> tiles{1, 1, 1, 1};
    Raster raster = Raster::along_n;
    std::int64_t group = 1;
    std::int64_t split_k = 1;
    bool stream_k = false;
    std::int64_t k_iterations = 1;  ///< of a whole tile; item_begin and item_end run over these
    bool on_demand = false;         ///< listed: a CTA asks for its next item
    std::vector<WorkItem> items;    ///< only when listed

    [[nodiscard]] std::int64_t item_count() const {
        return kind == ScheduleKind::listed ? static_cast<std::int64_t>(items.size())
                                            : tiles[0] * tiles[1] * tiles[2] * tiles[3] * split_k;
    }
    /// Whether a list gives the iterations of one tile to several items, which some item then adds up.
    [[nodiscard]] bool deals_out_tiles() const {
        return kind == ScheduleKind::listed &&
               static_cast<std::int64_t>(items.size()) > tiles[0] * tiles[1] * tiles[2] * tiles[3];
    }
    friend bool operator==(const Schedule&, const Schedule&) = default;
};

/// CTAs that behave differently: edges, causal rows, sampled traces. Linear ids in [first, last).
enum class CtaPhase : std::uint8_t { any, first_wave, warm };
struct CtaClass {
    std::int64_t first = 0;
    std::int64_t last = 0;
    double multiplicity = 1.0;
    CtaPhase phase = CtaPhase::any;
    friend bool operator==(const CtaClass&, const CtaClass&) = default;
};

// ---- memory

enum class Space : std::uint8_t { global, shared, cluster_shared, local, constant, host, peer };
enum class Before : std::uint8_t { by_conditions, cold, warm, dirty };
enum class Contents : std::uint8_t { unknown, zeros, random, image, written_by };

inline constexpr int max_rank = 5;

/// extent and stride in elements, fastest dimension first.
struct Buffer {
    Name name;
    Space space = Space::global;
    Dtype dtype = Dtype::fp32;
    std::uint8_t rank = 1;
    std::array<std::int64_t, max_rank> extent{1, 1, 1, 1, 1};
    std::array<std::int64_t, max_rank> stride{1, 0, 0, 0, 0};
    std::int64_t base = 0;
    std::int64_t base_alignment = 256;
    std::int32_t stages = 1;
    std::int32_t swizzle_bytes = 0;
    std::int64_t page_bytes = 0;
    Before before = Before::by_conditions;
    Contents contents = Contents::unknown;
    Id written_by_step = no_id;
    /// Other bytes that earlier steps have touched since this buffer was left in the caches.
    std::int64_t since_bytes = 0;

    [[nodiscard]] std::int64_t elements() const {
        std::int64_t count = 1;
        for (int d = 0; d < rank; ++d) {
            count *= extent[static_cast<std::size_t>(d)];
        }
        return count;
    }
    [[nodiscard]] std::int64_t bytes() const { return elements() * hw::bytes_of(dtype) * stages; }
    friend bool operator==(const Buffer&, const Buffer&) = default;
};

enum class Direction : std::uint8_t { read, write, atomic };
enum class Bounds : std::uint8_t { clip, wrap, zero_fill };
/// How a load or store uses the caches, by the names of PTX.
enum class CachePolicy : std::uint8_t { ca, cg, cs, no_allocate, evict_first, evict_last };
/// Whether a load looks for its lines in the L1.
[[nodiscard]] constexpr bool looks_in_l1(CachePolicy policy) {
    return policy != CachePolicy::cg;
}

enum class PatternKind : std::uint8_t {
    collective,
    contiguous,
    stride,
    broadcast,
    random,
    chase,
    listed,
    stream
};
enum class Distribution : std::uint8_t { uniform, zipf };

/// Affine run of addresses of a recorded stream: start + step * i, `repeat` times, for the lanes of the mask.
struct AddressRun {
    std::int64_t start = 0;
    std::int64_t step = 0;
    std::int64_t repeat = 1;
    std::uint32_t lane_mask = 0xffffffffU;
    friend bool operator==(const AddressRun&, const AddressRun&) = default;
};

/// How soon a CTA touches the same bytes again. Entry i of `sectors` is the share of an access's sectors that
/// the CTA has touched before, with lines of at most `least_distance << i` bytes touched since, this one
/// among them. Entry i of `whole` is the share of executions of which all sectors are such. `beside` is the
/// share of sectors that are new to the CTA while it has touched others of the bytes that DRAM brings with
/// them. `together` is the part of `whole` whose sectors another warp has asked for first, in the same turn
/// of the CTA's warps: on the way as likely as there.
struct Reuse {
    static constexpr std::size_t distances = 9;
    static constexpr std::int64_t least_distance = 1024;
    std::array<double, distances> sectors{}, whole{};
    double beside = 0.0, together = 0.0;
    friend bool operator==(const Reuse&, const Reuse&) = default;
};

/// One access of an op. Collective: a warp or the copy engine moves one box per op, at an origin (elements,
/// fastest dimension first). With `outer` > 0 a warp's lanes move the box in pieces of `bytes`, placed as in
/// a stride. Other patterns give the addresses of each lane; `origin[0]` is the element index of lane 0.
/// Contiguous: `bytes` per lane, lanes side by side. Stride: lane l reads `bytes` at (l % inner_extent) *
/// inner + (l / inner_extent) * outer elements. Random: `distinct` possible elements. Chase: each access
/// depends on the previous one, `step` elements further in a `window`. Listed and stream: addresses from the
/// kernel's pool [first, first + length).
struct Access {
    Id buffer = no_id;
    Direction direction = Direction::read;
    PatternKind pattern = PatternKind::contiguous;
    std::uint8_t rank = 1;
    std::array<Index, max_rank> origin{};
    std::array<std::int64_t, max_rank> box{1, 1, 1, 1, 1};
    std::int32_t bytes = 4;  ///< per lane
    std::int64_t inner_extent = 32;
    std::int64_t inner = 1;
    std::int64_t outer = 0;
    std::int64_t distinct = 0;
    Distribution distribution = Distribution::uniform;
    std::uint64_t seed = 0;
    std::int64_t step = 0;
    std::int64_t window = 0;
    std::uint32_t pool_first = 0;
    std::uint32_t pool_length = 0;
    Bounds bounds = Bounds::clip;
    CachePolicy cache = CachePolicy::ca;
    std::int32_t multicast_ctas = 1;
    /// of other CTAs' shared memory: accesses to the CTA of the cluster that is asked most, by the mean of
    /// all; of global memory: what is asked of the slice that the kernel asks most, by the mean of all
    double skew = 1.0;
    double joined = 0.0;  ///< share of a store's sectors that leave with earlier stores of the CTA
    /// of listed reads: share of the sectors that were read before, so long ago that the L2 may have lost
    /// them; 1: not known
    double far = 1.0;
    std::uint32_t reuse = 0;  ///< 1 + place in Kernel::reuse; 0: as pattern and origin say
    friend bool operator==(const Access&, const Access&) = default;
};

// ---- synchronization

enum class TokenKind : std::uint8_t { mbarrier, named_barrier, async_group, flag };
enum class Scope : std::uint8_t { warp, cta, cluster, grid };
enum class TokenKey : std::uint8_t { none, stage, tile };

/// Token with `depth` instances, one per stage, or per tile when keyed. A phase completes after `arrivals`.
/// `initial` phases count as complete from the start (an empty slot of a pipeline).
struct Token {
    Name name;
    TokenKind kind = TokenKind::mbarrier;
    Scope scope = Scope::cta;
    TokenKey key = TokenKey::none;
    std::int32_t arrivals = 1;
    std::int32_t initial = 0;
    std::int32_t depth = 1;
    friend bool operator==(const Token&, const Token&) = default;
};

// ---- program of a role

/// Dep on another op of the same role, `distance` iterations of their innermost common loop back.
struct Dep {
    Id op = no_id;
    std::int32_t distance = 0;
    friend bool operator==(const Dep&, const Dep&) = default;
};

/// The op runs only in iterations where low <= value < high; `active` false means always.
struct When {
    bool active = false;
    Index value;
    std::int64_t low = 0;
    std::int64_t high = 0;
    friend bool operator==(const When&, const When&) = default;
};

/// How a global access goes through the texture unit. fetch: by whole numbers, past the filter, as surfaces
/// do. nearest: one texel. blend: of neighbours along one or two dimensions; blend_volume: along three.
/// gather: one component of four neighbours. The access counts the texel nearest to the place.
enum class TextureUse : std::uint8_t { none, fetch, nearest, blend, blend_volume, gather };
/// `count` machine warp-instructions of one class, `chain` of which run in series.
struct Op {
    InstructionClass cls = InstructionClass::fma_f32;
    Dtype dtype = Dtype::fp32;
    bool once_per_unroll = false;
    bool shared_operand = false;  ///< wgmma: A comes from shared memory (SS) instead of registers (RS)
    /// m, n, k of a matrix instruction; for fma a lane's block (README)
    std::array<std::int32_t, 3> shape{};
    std::int64_t count = 1;
    std::int64_t chain = 1;
    When when;
    double active = 1.0;  ///< fraction of lanes, only for divergence on data
    /// share of executions in which a lane's predicate holds; in the others the op issues and does no more
    double enabled = 1.0;
    Id lanes = no_id;     ///< place in Kernel::lane_counts: active lanes of the warp, here and in this trip
    bool sparse = false;  ///< matrix instructions: A has two of four elements, `shape` counts all
    bool returns = true;  ///< atomics: true if the old value returns
    double asleep = 0.0;  ///< nanosleep: mean time until the warp wakes, in ns
    TextureUse texture = TextureUse::none;  ///< of global accesses
    std::uint16_t access_count = 0;
    std::uint32_t first_access = 0;  ///< its accesses are [first_access, first_access + access_count)
    Id completes = no_id;            ///< token fired when an asynchronous op is complete
    std::uint32_t dep_count = 0;
    std::uint32_t more_deps = 0;  ///< place in Kernel::more_deps of its fifth dep; Kernel::deps_of gives all
    Id file = no_id;              ///< of the source, in Kernel::files; -1 where no line is known
    std::int32_t line = 0;        ///< of its first instruction; for reports alone
    std::array<Dep, 4> deps{};    ///< the first four
    friend bool operator==(const Op&, const Op&) = default;
};

/// Fixed index, or the known distribution of a data-dependent trip count.
struct Trips {
    bool expected = false;
    Index index;
    double mean = 0.0, max_over_lanes = 0.0, max_over_warps = 0.0;
    friend bool operator==(const Trips&, const Trips&) = default;
};
/// What the slowest warps do where warps differ. Negative: what warps do on average.
struct SlowestWarps {
    double of_cta = -1.0;   ///< of the slowest warp from barrier to barrier, mean over the CTAs
    double of_grid = -1.0;  ///< of the slowest warp of all
    friend bool operator==(const SlowestWarps&, const SlowestWarps&) = default;
};
struct Loop {
    Trips trips;
    std::int32_t unroll = 1;
    std::int32_t machine_unroll = 1;
    SlowestWarps slowest{};  ///< their trips
    bool overlap = false;    ///< deps name all that a trip needs of trips before
    friend bool operator==(const Loop&, const Loop&) = default;
};
/// Passes when all but the `lag` newest phases (groups) of the token are complete.
struct Wait {
    Id token = no_id;
    std::int32_t lag = 0;
    friend bool operator==(const Wait&, const Wait&) = default;
};
enum class SignalOn : std::uint8_t { issue, completion };
struct Signal {
    Id token = no_id;
    SignalOn on = SignalOn::completion;
    friend bool operator==(const Signal&, const Signal&) = default;
};
struct Branch {
    double warps_taking = 1.0;
    double mean_lanes = 32.0;
    SlowestWarps slowest{};  ///< the share of the passes in which they take it
    /// place in Kernel::lane_counts: lanes of the warp that take it, here and in this trip; instead of the
    /// two shares
    Id lanes = no_id;
    friend bool operator==(const Branch&, const Branch&) = default;
};
struct Mark {
    Name name;
    friend bool operator==(const Mark&, const Mark&) = default;
};

enum class NodeKind : std::uint8_t { op, loop, wait, signal, branch, mark };

/// Bodies are trees in preorder: a loop or branch at position i owns nodes (i, end). `payload` indexes the
/// array of its kind.
struct Node {
    NodeKind kind = NodeKind::op;
    std::uint32_t payload = 0;
    std::uint32_t end = 0;
    friend bool operator==(const Node&, const Node&) = default;
};

/// `instances` copies of a group of `warps` warps that run the same body [first_node, last_node) for every
/// work item. With `alternate` the instances take the work items in turn (ping-pong). Each instance passes
/// over the token phases of the others' items.
struct Role {
    Name name;
    std::int32_t warps = 1;
    std::int32_t instances = 1;
    std::int32_t registers_per_thread = 0;  ///< 0: the kernel's number
    std::uint32_t first_node = 0;
    std::uint32_t last_node = 0;
    bool alternate = false;
    friend bool operator==(const Role&, const Role&) = default;
};

/// Fractions of dynamic instructions that are exact, extrapolated and unknown; they sum to 1 and widen the
/// band.
struct Coverage {
    double exact = 1.0, extrapolated = 0.0, unknown = 0.0;
    friend bool operator==(const Coverage&, const Coverage&) = default;
};

/// CTAs that wait for each other by words in memory. The longest path of waits through the grid has
/// `in_series` more of them than one CTA waits for itself; each takes the time from op `wait`, which looks at
/// the word, to op `told`, which tells the next CTA.
struct HandOvers {
    double in_series = 0.0;
    Id wait = no_id, told = no_id;
    friend bool operator==(const HandOvers&, const HandOvers&) = default;
};

struct Kernel;

/// All deps of an op, for loops over them.
class DepsOf {
  public:
    class Place {
      public:
        Place(const DepsOf& deps, std::size_t at) : deps_(deps), at_(at) {}
        const Dep& operator*() const;
        Place& operator++() {
            ++at_;
            return *this;
        }
        friend bool operator==(const Place& a, const Place& b) { return a.at_ == b.at_; }

      private:
        const DepsOf& deps_;
        std::size_t at_;
    };
    DepsOf(const Kernel* kernel, const Op* op) : kernel_(kernel), op_(op) {}
    [[nodiscard]] Place begin() const { return {*this, 0}; }
    [[nodiscard]] Place end() const { return {*this, op_->dep_count}; }

  private:
    const Kernel* kernel_;
    const Op* op_;
};

struct Kernel {
    std::string name;
    Dim3 grid;
    Dim3 cluster;
    Dim3 cta;  ///< threads
    std::int32_t registers_per_thread = 32;
    std::int64_t static_shared = 0;
    std::int64_t dynamic_shared = 0;
    std::int64_t carveout = -1;  ///< bytes; -1: the driver's choice
    std::int32_t named_barriers = 1;
    Schedule schedule;
    std::vector<Buffer> buffers;
    std::vector<Token> tokens;
    std::vector<Role> roles;
    std::vector<CtaClass> cta_classes;
    Coverage coverage;
    Evidence evidence = Evidence::any;
    HandOvers hand_overs;

    std::vector<Node> nodes;
    std::vector<Op> ops;
    std::vector<std::string> files;  ///< of source, that ops name
    std::vector<Access> accesses;    ///< accesses of all ops, in their order
    std::vector<Dep> more_deps;      ///< deps beyond an op's fourth, in the order of the ops
    std::vector<Loop> loops;
    std::vector<Wait> waits;
    std::vector<Signal> signals;
    std::vector<Branch> branches;
    std::vector<Mark> marks;
    std::vector<Term> terms;                 ///< pool of index terms
    std::vector<Index> nested;               ///< pool of nested expressions
    std::vector<Index> lane_counts;          ///< pool of what ops and branches name by `lanes`
    std::vector<AddressRun> address_pool;    ///< runs of listed and stream accesses
    std::vector<Reuse> reuse;                ///< pool of what accesses name by `reuse`
    std::vector<std::int64_t> address_list;  ///< 32 element indices per warp access of a listed access

    [[nodiscard]] std::span<const Access> accesses_of(const Op& op) const {
        return std::span(accesses).subspan(op.first_access, op.access_count);
    }
    /// Dep number `d` of an op.
    [[nodiscard]] const Dep& dep_of(const Op& op, std::size_t d) const {
        return d < op.deps.size() ? op.deps[d] : more_deps[op.more_deps + (d - op.deps.size())];
    }
    [[nodiscard]] DepsOf deps_of(const Op& op) const { return {this, &op}; }

    /// Empties every array and keeps its memory.
    void clear();
    friend bool operator==(const Kernel&, const Kernel&) = default;
};

inline const Dep& DepsOf::Place::operator*() const {
    return deps_.kernel_->dep_of(*deps_.op_, at_);
}

// ---- program

/// Memset sets `bytes` to one value. Memcpy copies `bytes` within the device, or across a link when `link`
/// says so.
struct Memset {
    std::int64_t bytes = 0;
    friend bool operator==(const Memset&, const Memset&) = default;
};
enum class Link : std::uint8_t { device, host_to_device, device_to_host, peer };
struct Memcpy {
    std::int64_t bytes = 0;
    Link link = Link::device;
    bool pinned = true;
    std::int32_t passes = 1;  ///< passes over the data by the driver's copy kernels
    friend bool operator==(const Memcpy&, const Memcpy&) = default;
};

/// Links of one kind that an exchange uses: steps that follow one another, and what one GPU sends in one
/// direction.
struct ExchangeLink {
    double hops = 0.0;
    double hop_seconds = 0.0;
    double bytes = 0.0;
    double bytes_per_second = 0.0;
    friend bool operator==(const ExchangeLink&, const ExchangeLink&) = default;
};
/// Exchange between GPUs, as one of them sees it. The numbers of links are those of a box, which no GPU has
/// by itself. Bytes cross both kinds of links at once; hops add up. `handled` bytes pass the GPU's own
/// channels beside the links. `fill_seconds` is the cost of one piece on one hop of a pipeline; 0: nothing is
/// cut.
struct Exchange {
    std::string name;        ///< of the algorithm, for reports
    std::int64_t bytes = 0;  ///< of the whole message
    double start_seconds = 0.0;
    std::array<ExchangeLink, 2> links;  ///< within a box, across boxes
    double handled_bytes = 0.0;
    double handled_per_second = 1.0;
    double fill_seconds = 0.0;
    double band = 0.0;  ///< half-width of the 80 % band, of the logarithm
    Evidence evidence = Evidence::any;
    friend bool operator==(const Exchange&, const Exchange&) = default;
};

enum class StepKind : std::uint8_t { kernel, memset, memcpy, exchange };

/// `payload` indexes the array of its kind; `after` lists the steps that must be complete (-1: none).
struct Step {
    StepKind kind = StepKind::kernel;
    std::uint32_t payload = 0;
    std::array<Id, 2> after{no_id, no_id};
    friend bool operator==(const Step&, const Step&) = default;
};

/// One operator: an ordered list of kernels and memory operations. Kernels beyond kernel_count keep their
/// memory for the next refill.
struct Program {
    std::vector<Kernel> kernels;
    std::size_t kernel_count = 0;
    std::vector<Memset> memsets;
    std::vector<Memcpy> memcpys;
    std::vector<Exchange> exchanges;
    std::vector<Step> steps;
    std::vector<std::string> warnings;  ///< of the compiler that made the kernels, a line each

    void clear();
    /// Appends an empty kernel as the next step and returns it; steps run in order.
    Kernel& add_kernel();
    void add_memset(std::int64_t bytes);
    void add_memcpy(const Memcpy& copy);
    void add_exchange(const Exchange& exchange);
};

}  // namespace warptime::model::kernel
