#include "session/batch.hpp"

#include "rules/own_directories.hpp"
#include "rules/paths.hpp"

#include <array>
#include <string>
#include <variant>

namespace paddock::detail {

namespace {

using steps_of_batch = std::vector<operation>;

void add_steps(const requests::create& r, steps_of_batch& to) {
    if (r.with_directory)
        to.push_back(op::create{.path = std::string(rules::parent(r.path)),
                                .data = std::string(rules::own_directory_data),
                                .acl = open_acl()});
    to.push_back(
        op::create{.path = r.path, .data = r.data, .mode = r.how->mode, .acl = r.how->acl});
}
void add_steps(const requests::remove& r, steps_of_batch& to) {
    to.push_back(op::remove{r.path, r.version});
    if (r.with_directory)
        to.push_back(op::remove{std::string(rules::parent(r.path)), rules::own_directory_version});
}
template <typename Other>
void add_steps(const Other&, steps_of_batch&) {} // not mergeable

/// Their number, and which of them tells the transaction.
constexpr std::size_t zxid_steps = 3;
constexpr std::size_t zxid_step = 1;

std::array<operation, zxid_steps> steps_for_zxid(std::string_view directory) {
    const auto path = rules::child(directory, "_paddock_czxid");
    return {op::create{.path = path, .mode = create_mode::ephemeral}, op::set{.path = path},
            op::remove{.path = path}};
}

/// At least as many as the steps for the directory have: 99 besides the path.
template <typename Request>
std::size_t directory_bytes(const Request& r) {
    constexpr std::size_t besides_path = 150;
    return r.with_directory ? rules::parent(r.path).size() + besides_path : 0;
}

std::size_t directory_bytes_of(const request& what) {
    if (const auto* const creates = std::get_if<requests::create>(&what))
        return directory_bytes(*creates);
    const auto* const removes = std::get_if<requests::remove>(&what);
    return removes ? directory_bytes(*removes) : 0;
}

} // namespace

bool creates(const request& what) noexcept {
    return std::holds_alternative<requests::create>(what);
}

bool mergeable(const request& what) noexcept {
    if (const auto* const creates = std::get_if<requests::create>(&what)) return creates->mergeable;
    const auto* const removes = std::get_if<requests::remove>(&what);
    return removes && removes->mergeable;
}

bool same_kind(const request& one, const request& other) noexcept {
    return one.index() == other.index() && with_directory(one) == with_directory(other);
}

std::string_view directory_of(const request& what) noexcept {
    if (const auto* const creates = std::get_if<requests::create>(&what))
        return rules::parent(creates->path);
    if (const auto* const removes = std::get_if<requests::remove>(&what))
        return rules::parent(removes->path);
    if (const auto* const lists = std::get_if<requests::list>(&what)) return lists->path;
    return {};
}

std::optional<std::string_view> place_of(const request& what) noexcept {
    if (const auto* const creates = std::get_if<requests::create>(&what))
        return creates->mergeable ? rules::parent(creates->path) : creates->path;
    if (const auto* const gets = std::get_if<requests::get>(&what))
        return rules::parent(gets->path);
    if (const auto* const exists = std::get_if<requests::exists>(&what))
        return rules::parent(exists->path);
    const auto place = directory_of(what);
    return place.empty() ? std::nullopt : std::optional(place);
}

bool with_directory(const request& what) noexcept {
    if (const auto* const creates = std::get_if<requests::create>(&what))
        return creates->with_directory;
    const auto* const removes = std::get_if<requests::remove>(&what);
    return removes && removes->with_directory;
}

std::size_t steps_of_each(const request& what) noexcept { return with_directory(what) ? 2 : 1; }

/// At least as many as the multi will have.
std::size_t batch::bytes_with(const request& what) const {
    constexpr std::size_t zxid_step_bytes = 100; // besides the directory; 75 in the largest
    const bool begins = parts_.empty() && creates(what);
    return bytes_ + bytes_of(what) + directory_bytes_of(what) +
           (begins ? zxid_steps * (directory_of(what).size() + zxid_step_bytes) : 0);
}

bool batch::fits(const request& what) const {
    if (!mergeable(what) || parts_.size() == max_nodes_) return false;
    if (!parts_.empty() && !same_kind(*parts_.front(), what)) return false;
    return suits(what) && bytes_with(what) <= max_bytes_;
}

bool batch::suits(const request& what) const {
    const auto directory = directory_of(what);
    if (with_directory(what)) return !directories_.contains(directory);
    if (std::holds_alternative<requests::remove>(what)) return places_.suits_remove(directory);
    return !directories_.contains(directory) && places_.suits_create(directory);
}

void batch::add(const request& what) {
    bytes_ = bytes_with(what);
    parts_.push_back(&what);
    if (with_directory(what)) leave_out(what);
}

void batch::leave_out(const request& what) {
    const bool changes = creates(what) || std::holds_alternative<requests::remove>(what);
    if (changes) directories_.insert(directory_of(what));
}

requests::multi batch::steps() const {
    requests::multi all;
    all.steps.reserve(parts_.size() * steps_of_each(*parts_.front()) + zxid_steps);
    for (const auto* const part : parts_)
        std::visit([&](const auto& r) { add_steps(r, all.steps); }, *part);
    if (creates(*parts_.front()))
        for (auto& step : steps_for_zxid(directory_of(*parts_.front())))
            all.steps.push_back(std::move(step));
    return all;
}

request as_sent(const request& what) {
    if (!with_directory(what)) return what;
    const rules::batch_places unknown;
    batch alone(unknown, batch::most_bytes, 1);
    alone.add(what);
    return alone.steps();
}

node_stat stat_of_created(const native::reply& answer, std::size_t steps) {
    node_stat stat;
    stat.czxid = stat.mzxid = stat.pzxid = answer.results[steps + zxid_step].stat.mzxid;
    return stat;
}

} // namespace paddock::detail
