#include "client/any_lock.hpp"
#include "client/arguments.hpp"
#include "redis/locks/line_call.hpp"
#include "support/argument.hpp"

#include <paddock/detail/access.hpp>
#include <paddock/redis/mutex.hpp>

#include <memory>
#include <string>
#include <utility>

namespace paddock::redis {

namespace {

using detail::line_call;
using paddock::detail::any_lock;

constexpr std::size_t longest_name = 512;

/// The inside of a mutex.
class key_lock final : public any_lock {
public:
    key_lock(std::shared_ptr<detail::core> client, std::string_view name, const hold_limit& limit)
        : client_(std::move(client)), name_(name), limit_(limit) {}

    asio::any_io_executor executor() const noexcept override { return client_->get_executor(); }

    void start(paddock::detail::handler<void(error_code, guard)> h, kind how,
               std::optional<std::chrono::nanoseconds> limit) const override {
        const auto as = how == kind::immediate ? line_call::kind::immediate : line_call::kind::wait;
        std::make_shared<line_call>(client_, name_, limit_, std::move(h), as)->start(limit);
    }

private:
    const std::shared_ptr<detail::core> client_;
    const std::string name_;
    const hold_limit limit_;
};

std::shared_ptr<const any_lock> make_lock(const client& servers, std::string_view name,
                                          const mutex_options& options) {
    if (name.empty()) throw bad_argument("mutex name", "is empty");
    if (name.size() > longest_name) throw bad_argument("mutex name", "is longer than 512 bytes");
    if (name.starts_with("paddock:"))
        throw bad_argument("mutex name", name, "begins with \"paddock:\", which is reserved");
    paddock::detail::check_hold_limit("mutex_options", options.hold_limit);
    return std::make_shared<const key_lock>(paddock::detail::access::core_of(servers), name,
                                            options.hold_limit);
}

} // namespace

mutex::mutex(const client& servers, std::string_view name, mutex_options options)
    : any_mutex(make_lock(servers, name, options)) {}

mutex::mutex(const client& servers, std::string_view name)
    : mutex(servers, name, mutex_options()) {}

} // namespace paddock::redis
