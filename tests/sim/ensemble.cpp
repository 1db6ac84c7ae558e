#include "sim/ensemble.hpp"

#include "rules/own_directories.hpp"
#include "sim/leader.hpp"

#include <algorithm>
#include <utility>

namespace paddock::test::sim {

ensemble::ensemble(timeline& time, dice& chance, ensemble_options options)
    : time_(time)
    , chance_(chance)
    , options_(options)
    , cut_until_(static_cast<std::size_t>(options.servers))
    , down_until_(static_cast<std::size_t>(options.servers)) {
    for (int n = 0; n < options_.servers; ++n) {
        servers_.push_back(std::make_unique<server>(*this, n));
        for (int other = 0; other < options_.servers; ++other)
            links_[{n, other}] = std::make_unique<link>(time_);
    }
    elect();
    pulse();
}

/// A message under way keeps its connection alive.
ensemble::~ensemble() {
    for (const auto& weak : sockets_)
        if (const auto one = weak.lock()) one->forget();
}

duration ensemble::latency(duration usual) {
    const auto once = chance_.between(usual / 2, 2 * usual);
    const bool slow = options_.slow_one_in != 0 && chance_.one_in(options_.slow_one_in);
    return slow ? once * chance_.below(200) : once;
}

std::shared_ptr<socket> ensemble::connect(int number) {
    std::erase_if(sockets_, [](const auto& one) { return one.expired(); });
    auto made = std::make_shared<socket>(*this, ++last_connection_, number);
    sockets_.push_back(made);
    return made;
}

bool ensemble::accepts(int number) const {
    return down_until_[static_cast<std::size_t>(number)] <= time_.now() &&
           replaced_until_ <= time_.now();
}

/// Between two servers as long as nothing breaks it; messages to itself always arrive.
void ensemble::send(int from, int to, unique_function<void(server&)> what) {
    auto& l = between(from, to);
    if (from != to && !l.open) return;
    const auto delay = from == to ? duration(0) : latency(options_.server_latency);
    l.way.send(delay, [this, to, what = std::move(what)]() mutable { what(at(to)); });
}

std::int64_t ensemble::new_session(int number) {
    return (static_cast<std::int64_t>(number + 1) << 56) + (0x17abLL << 32) + ++last_session_;
}

std::string ensemble::name_of(std::int64_t session) const {
    return '#' + std::to_string(session & 0xffff'ffff);
}

std::chrono::milliseconds ensemble::negotiate(std::chrono::milliseconds asked) const {
    return std::clamp(asked, 2 * options_.tick, 20 * options_.tick);
}

std::int64_t ensemble::wall_milliseconds() const {
    const auto since = time_.now().time_since_epoch();
    return 1'600'000'000'000 + std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}

void ensemble::count(const request& r, const txn& decided) {
    const auto all_are = [&](verb what) {
        return std::all_of(r.steps.begin(), r.steps.end(), [=](const request& step) {
            return step.what == what && !step.path.ends_with("-marker");
        });
    };
    if (r.what != verb::multi || r.steps.size() < 2) return;
    for (const auto& step : r.steps) {
        if (decided.refused_step >= 0) break;
        if (step.data == rules::own_directory_data) ++batches_.directories_made;
        if (step.what == verb::remove && step.version == rules::own_directory_version)
            ++batches_.directories_removed;
    }
    const bool creates = r.steps.back().path.ends_with("/_paddock_czxid");
    const bool removes = !creates && all_are(verb::remove);
    batches_.creates += creates ? 1 : 0;
    batches_.removes += removes ? 1 : 0;
    if ((creates || removes) && decided.refused_step >= 0) ++batches_.refused;
}

/// A client's nodes at one lock are created in the order of its calls, which is that of their ids:
/// until it loses a connection, whose creates can still be executed later.
void ensemble::check_order(const txn& t) {
    const auto replaces = [](const change& step) {
        return step.what == change::remove && step.path.find("/_c_") != std::string::npos;
    };
    if (connections_[t.session] != 1 || std::any_of(t.steps.begin(), t.steps.end(), replaces))
        return;
    for (const auto& step : t.steps) {
        const auto begin = step.path.rfind("/_c_");
        if (step.what != change::create || begin == std::string::npos ||
            step.path.ends_with("-marker"))
            continue;
        constexpr std::size_t length = 40; // of the prefix and the id
        const auto id = step.path.substr(begin, length);
        auto& last = youngest_[{t.session, step.path.substr(0, begin)}];
        must(last < id, "a later call's node is before that of an earlier one: " + step.path);
        last = id;
    }
}

void ensemble::committed(std::size_t index, const logged& t) {
    if (index < history_.size())
        return must(history_[index]->zxid == t->zxid, "the model: two leaders have committed");
    must(index == history_.size(), "the model: a gap in what was committed");
    history_.push_back(t);
    const auto created = std::find_if(t->steps.begin(), t->steps.end(), [](const change& step) {
        return step.what == change::create && step.owner != 0;
    });
    for (const auto& step : t->steps) {
        if (step.what == change::create && step.container)
            makers_[step.path].insert(clients_[t->session]);
        const auto* const node = step.what == change::remove ? truth_.find(step.path) : nullptr;
        if (!node) continue;
        const bool directory = node->stat.ephemeral_owner == 0;
        // Its maker takes a container for unused, though others may have used it meanwhile, or made
        // it anew.
        const bool own_container =
            node->container && makers_[step.path].contains(clients_[t->session]);
        must(!only_own_directories || !directory || t->session == 0 || own_container ||
                 node->data == rules::own_directory_data,
             "a client deletes a directory that it has not made: " + step.path);
        if (directory) continue;
        if (created != t->steps.end())
            successors_[{step.path, node->stat.ephemeral_owner}] = created->path;
        else
            ends_[{step.path, node->stat.ephemeral_owner}] = {
                t->zxid, t->session == 0 || killed_.contains(t->session)};
    }
    if (t->what != txn::error) check_order(*t);
    truth_.apply(*t);
    if (time_.listener && t->what != txn::error) time_.note([&] { return story_of(index); });
}

std::string ensemble::story_of(std::size_t index) const {
    const auto& t = *history_[index];
    std::string out = "zxid " + std::to_string(t.zxid >> 32) + '.' +
                      std::to_string(t.zxid & 0xffff'ffff) + ", session " + name_of(t.session);
    if (t.what == txn::open_session) out += " opens";
    if (t.what == txn::close_session) out += " ends";
    for (const auto& step : t.steps) {
        if (step.what == change::create) out += " creates " + step.path;
        if (step.what == change::remove) out += " deletes " + step.path;
        if (step.what == change::set && !step.path.empty()) out += " sets " + step.path;
    }
    return out;
}

std::string ensemble::now_at(const std::string& path, std::int64_t owner) const {
    const auto it = successors_.find({path, owner});
    return it == successors_.end() ? path : it->second;
}

ensemble::ended ensemble::end_of(const std::string& path, std::int64_t owner) const {
    const auto it = ends_.find({path, owner});
    return it == ends_.end() ? ended() : it->second;
}

std::string ensemble::watches() const {
    std::string all;
    for (const auto& one : servers_)
        for (const auto& watch : one->watches())
            all += ' ' + watch;
    return all;
}

int ensemble::leader() const {
    const auto* const one = established();
    return one ? one->id : -1;
}

bool ensemble::administrator(const request& r) {
    const int number = leader();
    if (number < 0) return false;
    at(number).leading()->decide_for(r);
    return true;
}

/// Its session ends at once, as if the client had closed it.
void ensemble::kill(std::int64_t session) {
    const int number = leader();
    if (number < 0) return;
    killed_.insert(session);
    at(number).leading()->expire(session);
}

void ensemble::reap() {
    std::vector<std::string> empty;
    for (const auto& [path, node] : truth_.nodes())
        if (node.container && node.stat.cversion > 0 && node.children.empty())
            empty.push_back(path);
    for (const auto& path : empty)
        administrator({.what = verb::remove, .path = path});
}

} // namespace paddock::test::sim
