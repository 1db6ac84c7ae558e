#include "native/server_list.hpp"

#include <algorithm>
#include <utility>

namespace paddock::native {

namespace {

std::string endpoint(const std::string& address, std::uint16_t port) {
    return address + ':' + std::to_string(port);
}

} // namespace

server_list::server_list(environment& env, std::vector<server_address> servers)
    : env_(env), servers_(std::move(servers)) {}

bool server_list::has_names() const noexcept {
    return std::any_of(servers_.begin(), servers_.end(), [](const auto& s) { return !s.literal; });
}

void server_list::look_up(looked_up done) {
    under_way_ = true;
    done_ = std::move(done);
    result_ = {};
    at_ = 0;
    next();
}

void server_list::next() {
    for (; at_ < servers_.size() && servers_[at_].literal; ++at_)
        result_.found.push_back(endpoint(servers_[at_].host, servers_[at_].port));
    if (at_ < servers_.size()) {
        const auto answered =
            [this, alive = std::weak_ptr(alive_)](const boost::system::error_code& error,
                                                  const std::vector<std::string>& addresses) {
                if (alive.expired()) return;
                const server_address& server = servers_[at_++];
                if (error || addresses.empty()) result_.unresolved.push_back(server.host);
                for (const std::string& address : addresses)
                    result_.found.push_back(endpoint(address, server.port));
                next();
            };
        return env_.resolve(servers_[at_].host, answered);
    }
    auto& found = result_.found;
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    under_way_ = false;
    auto done = std::exchange(done_, {}); // it may destroy this
    done(std::exchange(result_, {}));
}

std::string connect_string(std::vector<std::string> endpoints, environment& env) {
    for (std::size_t left = endpoints.size(); left > 1; --left)
        std::swap(endpoints[left - 1], endpoints[env.random() % left]);
    if (endpoints.size() % 2 == 0 && !endpoints.empty()) endpoints.push_back(endpoints.front());
    std::string list;
    for (const std::string& each : endpoints) {
        if (!list.empty()) list += ',';
        list += each;
    }
    return list;
}

} // namespace paddock::native
