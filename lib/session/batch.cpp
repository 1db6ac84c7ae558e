#include "session/batch.hpp"

#include "rules/paths.hpp"
#include "rules/request_bytes.hpp"

#include <array>
#include <string>
#include <variant>

namespace paddock::detail {

namespace {

operation step_of(const requests::create& r) {
    return op::create{.path = r.path, .data = r.data, .mode = r.how.mode, .acl = r.how.acl};
}
operation step_of(const requests::remove& r) { return op::remove{r.path, r.version}; }
template <typename Other>
operation step_of(const Other&) {
    return op::check{}; // not mergeable
}

operation step_of(const request& what) {
    return std::visit([](const auto& r) { return step_of(r); }, what);
}

/// Their number, and which of them tells the transaction.
constexpr std::size_t zxid_steps = 3;
constexpr std::size_t zxid_step = 1;

std::array<operation, zxid_steps> steps_for_zxid(std::string_view directory) {
    const auto path = rules::child(directory, "_paddock_czxid");
    return {op::create{.path = path, .mode = create_mode::ephemeral}, op::set{.path = path},
            op::remove{.path = path}};
}

bool mergeable(const request& what) noexcept {
    if (const auto* const creates = std::get_if<requests::create>(&what)) return creates->mergeable;
    const auto* const removes = std::get_if<requests::remove>(&what);
    return removes && removes->mergeable;
}

} // namespace

std::string_view directory_of(const request& what) noexcept {
    if (const auto* const creates = std::get_if<requests::create>(&what))
        return rules::parent(creates->path);
    if (const auto* const removes = std::get_if<requests::remove>(&what))
        return rules::parent(removes->path);
    if (const auto* const lists = std::get_if<requests::list>(&what)) return lists->path;
    return {};
}

bool batch::add(const request& what) {
    if (!mergeable(what) || parts_.size() == most_nodes) return false;
    if (!parts_.empty() && parts_.front()->index() != what.index()) return false;
    const bool creates = std::holds_alternative<requests::create>(what);
    const auto directory = directory_of(what);
    if (creates ? !places_.suits_create(directory) : !places_.suits_remove(directory)) return false;
    const auto step = step_of(what);
    auto bytes = bytes_ + rules::request_bytes({&step, 1});
    if (creates && parts_.empty()) bytes += rules::request_bytes(steps_for_zxid(directory));
    if (bytes > max_bytes_ || (creates && !directories_.insert(directory).second)) return false;
    bytes_ = bytes;
    parts_.push_back(&what);
    return true;
}

requests::multi batch::steps() const {
    requests::multi all;
    all.steps.reserve(parts_.size() + zxid_steps);
    for (const auto* const part : parts_)
        all.steps.push_back(step_of(*part));
    if (std::holds_alternative<requests::create>(*parts_.front()))
        for (auto& step : steps_for_zxid(directory_of(*parts_.front())))
            all.steps.push_back(std::move(step));
    return all;
}

node_stat stat_of_created(const native::reply& answer, std::size_t nodes) {
    node_stat stat;
    stat.czxid = stat.mzxid = stat.pzxid = answer.results[nodes + zxid_step].stat.mzxid;
    return stat;
}

} // namespace paddock::detail
