#include "session/parents.hpp"

#include "rules/paths.hpp"
#include "session/call.hpp"
#include "session/core.hpp"
#include "session/root_check.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace paddock::detail {

namespace {

/// Creates the directory; if its parent is missing, creates the parent first, and so on. Another
/// client may delete a new container in between; then it starts from that parent again.
struct parent_creation : std::enable_shared_from_this<parent_creation> {
    parent_creation(core& c, create_mode mode, unique_function<void(int, bool)> d)
        : client(c), how(requests::share({.mode = mode})), done(std::move(d)) {}

    core& client;
    requests::shared_options how;
    unique_function<void(int, bool)> done;
    std::vector<std::string>
        missing; ///< from the directory up; the next create is for the last one

    void step() {
        const auto path = missing.back();
        const bool inside = rules::is_below(client.root(), path);
        if (!inside && !client.options().create_root) {
            client.use<root_check>().found_missing();
            return done(no_root_code, false);
        }
        client.dispatcher().submit(
            lane::lock_work, requests::create{path, {}, inside ? how : requests::share({})},
            [self = shared_from_this()](const native::reply& r) { self->answered(r.rc); });
    }

    void answered(int code) {
        const auto result = static_cast<zk_errc>(code);
        if (code == 0 || result == zk_errc::node_exists) {
            missing.pop_back();
            if (missing.empty()) return done(0, code == 0);
        } else if (result == zk_errc::no_node && missing.back() != "/") {
            missing.emplace_back(rules::parent(missing.back()));
        } else {
            return done(code, false);
        }
        step();
    }
};

} // namespace

void make_directory(core& client, const std::string& directory, bool persistent,
                    unique_function<void(int, bool)> done) {
    const auto mode = persistent ? create_mode::persistent : create_mode::container;
    const auto l = std::make_shared<parent_creation>(client, mode, std::move(done));
    l->missing.push_back(directory);
    l->step();
}

} // namespace paddock::detail
