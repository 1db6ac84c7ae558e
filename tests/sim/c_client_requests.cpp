// The requests of the simulated C client.
#include "sim/c_client.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace paddock::test::sim {

namespace state = native::state;

int c_client::submit(request r, done reply_to) {
    if (!usable() || !observer_) return code::invalid_state;
    r.xid = ++xid_;
    auto& p = pending_.emplace_back(pending{std::move(r), std::move(reply_to)});
    if (state_ != state::connected) return code::ok; // later
    p.sent = transmit(p.what);
    if (!p.sent) close_silently();
    return code::ok;
}

bool c_client::transmit(request r) {
    if (!socket_->send(std::move(r))) return false;
    last_sent_ = now();
    return true;
}

/// The server keeps requests that were sent; the rest go out on the next connection.
void c_client::close_silently() {
    socket_->close();
    socket_.reset();
    state_ = state::not_connected;
}

std::vector<std::string> c_client::in_table_order(const watched& paths) {
    std::vector<std::string> out(paths.begin(), paths.end());
    for (std::size_t left = out.size(); left > 1; --left)
        std::swap(out[left - 1], out[here_->chance().next() % left]);
    return out;
}

void c_client::send_watches() {
    if (data_.empty() && exist_.empty() && child_.empty()) return;
    request r{.what = verb::set_watches, .xid = -8, .seen = seen_};
    r.data_watches = in_table_order(data_);
    r.exist_watches = in_table_order(exist_);
    r.child_watches = in_table_order(child_);
    transmit(std::move(r));
}

int c_client::create(const std::string& path, std::string_view data, const create_options& how,
                     done reply_to) {
    return submit({.what = verb::create, .path = path, .data = std::string(data), .mode = how.mode},
                  std::move(reply_to));
}

int c_client::get(const std::string& path, bool watch, done reply_to) {
    return submit({.what = verb::get, .path = path, .watch = watch}, std::move(reply_to));
}

int c_client::exists(const std::string& path, bool watch, done reply_to) {
    return submit({.what = verb::exists, .path = path, .watch = watch}, std::move(reply_to));
}

int c_client::children(const std::string& path, bool watch, done reply_to) {
    return submit({.what = verb::children, .path = path, .watch = watch}, std::move(reply_to));
}

int c_client::set(const std::string& path, std::string_view data, std::int32_t version,
                  done reply_to) {
    return submit({.what = verb::set, .path = path, .data = std::string(data), .version = version},
                  std::move(reply_to));
}

int c_client::remove(const std::string& path, std::int32_t version, done reply_to) {
    return submit({.what = verb::remove, .path = path, .version = version}, std::move(reply_to));
}

int c_client::sync(const std::string& path, done reply_to) {
    return submit({.what = verb::sync, .path = path}, std::move(reply_to));
}

int c_client::get_acl(const std::string& path, done reply_to) {
    return submit({.what = verb::get_acl, .path = path}, std::move(reply_to));
}

int c_client::set_acl(const std::string&, const acl&, std::int32_t, done) {
    return code::invalid_state; // no request is denied here
}

int c_client::remove_watches(const std::string& path, done reply_to) {
    return submit({.what = verb::remove_watches, .path = path}, std::move(reply_to));
}

namespace {

request step_of(const operation& step) {
    request r;
    if (const auto* const c = std::get_if<op::create>(&step)) {
        r.what = verb::create;
        r.data = c->data;
        r.mode = c->mode;
    } else if (const auto* const s = std::get_if<op::set>(&step)) {
        r.what = verb::set;
        r.data = s->data;
        r.version = s->version;
    } else if (const auto* const d = std::get_if<op::remove>(&step)) {
        r.what = verb::remove;
        r.version = d->version;
    } else {
        r.what = verb::check;
        r.version = std::get<op::check>(step).version;
    }
    r.path = std::visit([](const auto& one) { return one.path; }, step);
    return r;
}

} // namespace

int c_client::multi(std::span<const operation> steps, done reply_to) {
    request r{.what = verb::multi};
    for (const auto& step : steps)
        r.steps.push_back(step_of(step));
    return submit(std::move(r), std::move(reply_to));
}

} // namespace paddock::test::sim
