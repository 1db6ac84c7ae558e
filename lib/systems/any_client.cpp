#include "support/argument.hpp"
#include "support/spaces.hpp"
#include "systems/systems.hpp"

#include <paddock/any_client.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

namespace paddock {

namespace {

/// The systems of this process, by their schemes.
class schemes {
public:
    schemes() {
        all_["zk"] = all_["zookeeper"] = detail::zookeeper_system();
        if (auto redis = detail::redis_system()) all_["redis"] = all_["rediss"] = std::move(redis);
    }

    void add(std::string scheme, open_system open) {
        const std::lock_guard lock(mutex_);
        all_.insert_or_assign(std::move(scheme), std::move(open));
    }

    /// Empty if there is none.
    open_system find(const std::string& scheme) const {
        const std::lock_guard lock(mutex_);
        const auto found = all_.find(scheme);
        return found == all_.end() ? open_system() : found->second;
    }

private:
    mutable std::mutex mutex_;
    std::map<std::string, open_system> all_;
};

schemes& known_schemes() {
    static schemes all;
    return all;
}

bool is_scheme(std::string_view text) {
    const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
    const auto other = [&](char c) {
        return letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
    };
    return !text.empty() && letter(text.front()) && std::all_of(text.begin(), text.end(), other);
}

/// Does not quote the URL, which may have a password in it.
std::shared_ptr<lock_system> open(const asio::any_io_executor& executor, std::string_view url,
                                  const any_client_options& options) {
    url = without_spaces(url);
    const auto end = url.find("://");
    std::string scheme(url.substr(0, end));
    std::transform(
        scheme.begin(), scheme.end(), scheme.begin(), // RFC 3986: `Redis` is `redis`
        [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    if (end == url.npos || !is_scheme(scheme))
        throw bad_argument("url", "does not begin with a scheme, such as zk:// or redis://");
    const auto make = known_schemes().find(scheme);
    if (!make) throw bad_argument("url", "has the scheme '" + scheme + "', which is not known");
    if (options.timeout < std::chrono::milliseconds(0))
        throw bad_argument("any_client_options::timeout", "is negative");
    auto made = make(checked(executor), url, options);
    if (!made) throw bad_argument("url", "is not accepted by the system of its scheme");
    return made;
}

const lock_system& inside(const std::shared_ptr<lock_system>& system) {
    if (!system) throw bad_argument("any_client", "was moved from");
    return *system;
}

} // namespace

lock_system::~lock_system() = default;

client_statistics lock_system::statistics() const { return {}; }

client_health lock_system::health() const { return {.ready = true, .reason = "ready"}; }

void lock_system::drain(std::chrono::nanoseconds, handler done) { close(std::move(done)); }

void register_scheme(std::string scheme, open_system open) {
    if (!is_scheme(scheme)) throw bad_argument("scheme", scheme, "is no scheme of a URL");
    if (!open) throw bad_argument("open", "is empty");
    known_schemes().add(std::move(scheme), std::move(open));
}

any_client::any_client(asio::any_io_executor executor, std::string_view url,
                       any_client_options options)
    : system_(open(executor, url, options)) {}

any_client::any_client(asio::any_io_executor executor, std::string_view url)
    : any_client(std::move(executor), url, any_client_options()) {}

any_client::executor_type any_client::get_executor() const noexcept {
    return system_ ? system_->get_executor() : executor_type();
}

any_mutex any_client::mutex(std::string_view name) const { return inside(system_).mutex(name); }

any_lock_family any_client::lock_family(std::string_view name) const {
    return inside(system_).lock_family(name);
}

client_statistics any_client::statistics() const { return inside(system_).statistics(); }

client_health any_client::health() const { return inside(system_).health(); }

void any_client::start_connect(detail::handler<void(error_code)> h, system_ptr system,
                               std::chrono::nanoseconds limit) {
    system->connect(limit, std::move(h));
}

void any_client::start_close(detail::handler<void(error_code)> h, system_ptr system) {
    system->close(std::move(h));
}

void any_client::start_drain(detail::handler<void(error_code)> h, system_ptr system,
                             std::chrono::nanoseconds limit) {
    system->drain(limit, std::move(h));
}

} // namespace paddock
