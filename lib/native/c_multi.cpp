#include "native/c_client.hpp"
#include "native/c_convert.hpp"
#include "native/c_lock.hpp"

#include <algorithm>
#include <deque>
#include <variant>

namespace paddock::native {

namespace {

/// Whether the C client accepts a path. multi() checks each path beforehand, because zoo_amulti()
/// frees memory that it does not own when it finds an invalid path itself.
bool is_valid_path(const std::string& path, bool sequential) {
    if (path.empty() || path[0] != '/' || !is_c_string(path)) return false;
    if (!has_c_length(path)) return false;
    if (path.size() == 1) return true;
    if (path.back() == '/' && !sequential) return false;
    for (std::size_t begin = 1; begin <= path.size();) {
        std::size_t end = path.find('/', begin);
        if (end == std::string::npos) end = path.size();
        const std::string_view part(path.data() + begin, end - begin);
        const bool last = end == path.size();
        if (part.empty() && !last) return false;
        if ((part == "." || part == "..") && !(last && sequential)) return false;
        begin = end + 1;
    }
    for (const char c : path)
        if (c > 0 && c < 0x20) return false;
    return true;
}

/// A multi in the C client's form. The C client keeps pointers into this record (results, paths,
/// stats) until the answer; deques keep the elements' addresses stable.
struct multi_call {
    explicit multi_call(calls::done completes) : reply_to(std::move(completes)) {}

    bool add(const operation& step) {
        return std::visit([this](const auto& one) { return add(one); }, step);
    }

    bool add(const op::create& step) {
        const bool sequential = is_sequential(step.mode);
        // The C client aborts the process for a container or a TTL node in a multi.
        if (step.mode == create_mode::container || has_ttl(step.mode)) return false;
        if (!is_valid_path(step.path, sequential) || !has_c_length(step.data)) return false;
        constexpr std::size_t most_added = 16; // a sequence number has 11 characters, then a zero
        std::string& path = paths.emplace_back(step.path.size() + most_added, '\0');
        stats.emplace_back();
        zoo_create_op_init(&ops.emplace_back(), step.path.c_str(), bytes_of(step.data),
                           length_of(step.data), acls.emplace_back(step.acl).get(), to_c(step.mode),
                           path.data(), length_of(path));
        return true;
    }

    bool add(const op::set& step) {
        if (!is_valid_path(step.path, false) || !has_c_length(step.data)) return false;
        paths.emplace_back();
        zoo_set_op_init(&ops.emplace_back(), step.path.c_str(), bytes_of(step.data),
                        length_of(step.data), step.version, &stats.emplace_back());
        return true;
    }

    bool add(const op::remove& step) {
        if (!is_valid_path(step.path, false)) return false;
        paths.emplace_back();
        stats.emplace_back();
        zoo_delete_op_init(&ops.emplace_back(), step.path.c_str(), step.version);
        return true;
    }

    bool add(const op::check& step) {
        if (!is_valid_path(step.path, false)) return false;
        paths.emplace_back();
        stats.emplace_back();
        zoo_check_op_init(&ops.emplace_back(), step.path.c_str(), step.version);
        return true;
    }

    std::vector<operation_result> converted() const {
        std::vector<operation_result> all;
        for (const zoo_op_result_t& one : results) {
            operation_result& into = all.emplace_back();
            if (one.value != nullptr) into.path = one.value;
            if (one.stat != nullptr) into.stat = from_c(*one.stat);
        }
        return all;
    }

    /// The steps before and behind the one that was refused have codes of their own.
    int refused() const {
        const auto first =
            std::find_if(results.begin(), results.end(), [](const zoo_op_result_t& one) {
                return one.err != ZOK && one.err != ZRUNTIMEINCONSISTENCY;
            });
        return first == results.end() ? -1 : static_cast<int>(first - results.begin());
    }

    static void answered(int rc, const void* data) noexcept {
        const outside_c without_lock;
        const std::unique_ptr<multi_call> call(static_cast<multi_call*>(const_cast<void*>(data)));
        std::vector<operation_result> all;
        if (rc == ZOK) all = call->converted();
        call->reply_to->complete(reply{.rc = rc, .results = all, .refused_step = call->refused()});
    }

    calls::done reply_to;
    std::vector<zoo_op_t> ops;
    std::vector<zoo_op_result_t> results;
    std::deque<c_acl> acls;
    std::deque<std::string> paths;
    std::deque<::Stat> stats;
};

} // namespace

int c_client::multi(std::span<const operation> steps, done reply_to) {
    if (!may_send() || is_unrecoverable(handle_) != ZOK) return ZINVALIDSTATE;
    auto call = std::make_unique<multi_call>(std::move(reply_to));
    if (!has_c_length(steps)) return ZBADARGUMENTS;
    for (const operation& step : steps)
        if (!call->add(step)) return ZBADARGUMENTS;
    call->results.resize(call->ops.size());
    const inside_c lock(c_client_mutex, &errors_);
    cork();
    const int rc = zoo_amulti(handle_, length_of(call->ops), call->ops.data(), call->results.data(),
                              &multi_call::answered, call.get());
    if (rc == ZOK) static_cast<void>(call.release());
    return rc;
}

} // namespace paddock::native
