#include "support/argument.hpp"

#include <paddock/detail/initiate.hpp>

#include <cstddef>
#include <map>
#include <mutex>
#include <new>
#include <utility>

namespace paddock {

namespace {

/// Equals paddock_category(), because it has its id; a bad_argument has a message of its own.
class refusal final : public boost::system::error_category {
public:
    explicit refusal(std::string text)
        : error_category(paddock_category_id), text_(std::move(text)) {}
    const char* name() const noexcept override { return paddock_category().name(); }
    std::string message(int code) const override {
        return code == static_cast<int>(errc::bad_argument) ? text_
                                                            : paddock_category().message(code);
    }

private:
    const std::string text_;
};

/// One for each text. They are never destroyed: an error code can outlive everything else.
class refusals {
public:
    const boost::system::error_category& get(std::string text) {
        const std::lock_guard lock(mutex_);
        if (const auto known = all_.find(text); known != all_.end()) return *known->second;
        if (all_.size() >= most) return paddock_category();
        const auto made = new refusal(text);
        all_.emplace(std::move(text), made);
        return *made;
    }

private:
    /// Far more than there are; beyond it the text is that of errc::bad_argument.
    static constexpr std::size_t most = 256;
    std::mutex mutex_;
    std::map<std::string, const refusal*, std::less<>> all_;
};

refusals& all_refusals() {
    static auto& all = *new refusals;
    return all;
}

} // namespace

error_code refused_argument(std::string_view name, std::string_view why) noexcept {
    try {
        auto text = printable(std::string(name) + ' ' + std::string(why));
        return {static_cast<int>(errc::bad_argument), all_refusals().get(std::move(text))};
    } catch (const std::bad_alloc&) {
        return errc::bad_argument;
    }
}

error_code detail::empty_object() noexcept {
    return refused_argument("the object", "is empty, or was moved from");
}

} // namespace paddock
