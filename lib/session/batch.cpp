#include "session/batch.hpp"

#include "rules/paths.hpp"

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

/// At least as many as the multi will have.
std::size_t batch::bytes_with(const request& what) const {
    constexpr std::size_t zxid_step_bytes = 100; // besides the directory
    const bool begins = parts_.empty() && std::holds_alternative<requests::create>(what);
    return bytes_ + bytes_of(what) +
           (begins ? zxid_steps * (directory_of(what).size() + zxid_step_bytes) : 0);
}

bool batch::fits(const request& what) const {
    if (!mergeable(what) || parts_.size() == most_nodes) return false;
    if (!parts_.empty() && parts_.front()->index() != what.index()) return false;
    const auto directory = directory_of(what);
    const bool suits = std::holds_alternative<requests::create>(what)
                           ? !directories_.contains(directory) && places_.suits_create(directory)
                           : places_.suits_remove(directory);
    return suits && bytes_with(what) <= max_bytes_;
}

void batch::add(const request& what) {
    bytes_ = bytes_with(what);
    parts_.push_back(&what);
    if (std::holds_alternative<requests::create>(what)) directories_.insert(directory_of(what));
}

void batch::leave_out(const request& what) {
    if (std::holds_alternative<requests::create>(what)) directories_.insert(directory_of(what));
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
