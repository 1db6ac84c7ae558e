#include "native/server_list.hpp"

#include <algorithm>
#include <utility>

namespace paddock::native {

namespace {

std::string endpoint(const std::string& address, std::uint16_t port) {
    return address + ':' + std::to_string(port);
}

template <typename T>
void shuffle(std::vector<T>& all, environment& env) {
    for (std::size_t left = all.size(); left > 1; --left)
        std::swap(all[left - 1], all[env.random() % left]);
}

} // namespace

std::string with_brackets(const std::string& endpoint) {
    const auto colon = endpoint.rfind(':');
    if (endpoint.find(':') == colon) return endpoint;
    return '[' + endpoint.substr(0, colon) + ']' + endpoint.substr(colon);
}

server_list::server_list(environment& env, std::vector<server_address> servers) : env_(env) {
    replace(std::move(servers));
}

void server_list::replace(std::vector<server_address> servers) {
    give_up();
    alive_ = std::make_shared<const bool>(true);
    std::vector<server> all;
    for (server_address& each : servers) {
        server one{std::move(each), {}};
        const auto same = std::find_if(servers_.begin(), servers_.end(), [&](const server& old) {
            return old.named.host == one.named.host && old.named.port == one.named.port;
        });
        if (one.named.literal)
            one.endpoints.push_back(endpoint(one.named.host, one.named.port));
        else if (same != servers_.end())
            one.endpoints = same->endpoints;
        all.push_back(std::move(one));
    }
    servers_ = std::move(all);
}

bool server_list::has_names() const noexcept {
    return std::any_of(servers_.begin(), servers_.end(),
                       [](const auto& one) { return !one.named.literal; });
}

std::string server_list::host_of(const std::string& endpoint) const {
    for (const server& one : servers_)
        if (std::find(one.endpoints.begin(), one.endpoints.end(), endpoint) != one.endpoints.end())
            return one.named.host;
    return {};
}

void server_list::look_up(endpoints_handler handler) {
    handler_ = std::make_shared<endpoints_handler>(std::move(handler));
    unresolved_.clear();
    pending_.clear();
    for (std::size_t n = 0; n < servers_.size(); ++n)
        if (!servers_[n].named.literal) pending_.push_back(n);
    shuffle(pending_, env_);
    resolve_next();
    report();
}

void server_list::resolve_next() {
    in_progress_ = !pending_.empty();
    if (!in_progress_) return;
    const auto which = pending_.back();
    pending_.pop_back();
    env_.resolve(servers_[which].named.host,
                 [this, which, alive = std::weak_ptr(alive_)](
                     const boost::system::error_code& error, std::vector<std::string> addresses) {
                     if (alive.expired()) return;
                     if (error) addresses.clear();
                     resolved(which, addresses);
                 });
}

void server_list::resolved(std::size_t which, const std::vector<std::string>& addresses) {
    server& one = servers_[which];
    if (addresses.empty()) {
        unresolved_.push_back(one.named.host);
    } else {
        one.endpoints.clear();
        for (const std::string& address : addresses)
            one.endpoints.push_back(endpoint(address, one.named.port));
    }
    resolve_next();
    report();
}

void server_list::report() {
    server_endpoints known{{}, {}, !in_progress_};
    for (const server& one : servers_)
        known.found.insert(known.found.end(), one.endpoints.begin(), one.endpoints.end());
    std::sort(known.found.begin(), known.found.end());
    known.found.erase(std::unique(known.found.begin(), known.found.end()), known.found.end());
    if (known.complete) known.unresolved = std::exchange(unresolved_, {});
    std::sort(known.unresolved.begin(), known.unresolved.end());
    const auto handler = handler_; // the call may destroy this
    (*handler)(known);
}

void server_list::give_up() noexcept {
    alive_.reset();
    if (std::exchange(in_progress_, false)) env_.stop_resolving();
}

std::string connect_string(std::vector<std::string> endpoints, environment& env) {
    shuffle(endpoints, env);
    if (endpoints.size() % 2 == 0 && !endpoints.empty()) endpoints.push_back(endpoints.front());
    std::string list;
    for (const std::string& each : endpoints) {
        if (!list.empty()) list += ',';
        list += each;
    }
    return list;
}

} // namespace paddock::native
