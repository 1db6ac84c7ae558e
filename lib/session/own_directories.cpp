#include "session/own_directories.hpp"

#include "rules/outcome.hpp"

#include <paddock/error.hpp>

#include <utility>

namespace paddock::detail {

namespace {

/// At one time, so that they do not delay locks: an eighth of the usual window. A trade: with fewer
/// it takes longer until the directories are gone.
constexpr std::size_t most_visits = 32;

using found = rules::own_directories::found;
using origin = rules::own_directories::origin;

request delete_of(const std::string& directory) {
    return requests::remove{directory, rules::own_directory_version};
}

bool has_own_data(const native::reply& data) {
    return data.value == rules::own_directory_data &&
           data.stat->version == rules::own_directory_version;
}

origin origin_of(const native::reply& data) {
    switch (rules::judge(rules::request_kind::look, data.rc)) {
    case rules::outcome::done:
        return has_own_data(data) ? origin::locks : origin::others;
    case rules::outcome::refused:
        return origin::others;
    default:
        return origin::unknown;
    }
}

found found_by_delete(int code) {
    if (!rules::agreed(code)) return found::no_answer;
    switch (static_cast<zk_errc>(code)) {
    case zk_errc::not_empty:
        return found::in_use;
    case zk_errc::no_auth:
    case zk_errc::bad_version:
        return found::foreign;
    default:
        return found::nothing;
    }
}

} // namespace

void own_directories::refused(std::string_view directory, int code) {
    if (static_cast<zk_errc>(code) == zk_errc::no_auth) return rules_.refused(directory);
    rules_.shared(directory, env_.now());
    if (static_cast<zk_errc>(code) == zk_errc::node_exists) recognise(directory);
}

void own_directories::left(std::string_view directory, rules::made_here made) {
    rules_.left(directory, made, env_.now());
    arm();
    if (made == rules::made_here::no) recognise(directory); // else a visit reads it
}

void own_directories::recognise(std::string_view directory) {
    if (!connected_ || !rules_.ask(directory)) return;
    dispatcher_.submit(lane::lock_work, requests::get{std::string(directory)},
                       [this, directory = std::string(directory)](const native::reply& reply) {
                           rules_.answered(directory, origin_of(reply));
                       });
}

void own_directories::on_connected() {
    connected_ = true;
    arm();
}

void own_directories::on_session_ended() {
    connected_ = false;
    rules_.session_ended();
}

std::vector<request> own_directories::close() {
    timer_.reset();
    connected_ = false;
    std::vector<request> deletes;
    for (const auto& directory : rules_.close())
        deletes.push_back(delete_of(directory));
    return deletes;
}

void own_directories::arm() {
    const auto next = rules_.next_visit();
    if (!next || !connected_ || under_way_ >= most_visits) return;
    if (!timer_) timer_ = env_.make_timer();
    timer_->arm(*next, [this] { visit_due(); });
}

void own_directories::visit_due() {
    if (!connected_) return;
    for (const auto& directory : rules_.take_due(env_.now(), most_visits - under_way_))
        visit(directory);
    arm();
}

void own_directories::visit(const std::string& directory) {
    ++under_way_;
    dispatcher_.submit(lane::lock_work, requests::get{directory},
                       [this, directory](const native::reply& reply) { seen(directory, reply); });
}

void own_directories::seen(const std::string& directory, const native::reply& reply) {
    const auto made_by = origin_of(reply);
    if (made_by == origin::others) return visited(directory, found::foreign);
    if (made_by == origin::unknown) {
        const bool gone =
            rules::judge(rules::request_kind::look, reply.rc) == rules::outcome::missing;
        return visited(directory, gone ? found::nothing : found::no_answer);
    }
    if (reply.stat->num_children > 0) return visited(directory, found::in_use);
    if (rules_.lately_used(directory, env_.now())) return visited(directory, found::lately_used);
    dispatcher_.submit(lane::lock_work, delete_of(directory),
                       [this, directory](const native::reply& answer) {
                           visited(directory, found_by_delete(answer.rc));
                       });
}

void own_directories::visited(const std::string& directory, found what) {
    --under_way_;
    rules_.visited(directory, what, env_.now());
    arm();
}

} // namespace paddock::detail
