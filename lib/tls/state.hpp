#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace boost::asio::ssl {
class context;
}

namespace paddock::detail {

/// What copies of one paddock::tls share. Any thread.
class tls_state {
public:
    using context_ptr = std::shared_ptr<boost::asio::ssl::context>;

    tls_state(context_ptr context, std::string name)
        : name_(std::move(name)), context_(std::move(context)) {}

    /// The context of the next connection.
    context_ptr context() const {
        const std::lock_guard lock(mutex_);
        return context_;
    }
    void replace(context_ptr context) {
        const std::lock_guard lock(mutex_);
        context_.swap(context);
    }

    /// What the certificate of this server must have as a name.
    const std::string& name_of(const std::string& host) const noexcept {
        return name_.empty() ? host : name_;
    }

private:
    const std::string name_;
    mutable std::mutex mutex_;
    context_ptr context_;
};

} // namespace paddock::detail
