#include "session/listing.hpp"

#include "rules/outcome.hpp"
#include "rules/paths.hpp"
#include "session/core.hpp"

namespace paddock::detail {

namespace {

/// For the window of requests in flight: the path and what the protocol puts around it.
std::size_t request_bytes(const std::string& path) { return path.size() + request_envelope; }

} // namespace

void list(core& client, lane which, const std::string& directory, listing_answer done, bool watch) {
    client.gate().submit(
        which, answered_by::server, request_bytes(directory),
        [directory, watch](native::calls& c, std::unique_ptr<native::completion> answered) {
            return c.children(directory, watch, std::move(answered));
        },
        [done = std::move(done)](const native::reply& reply) mutable {
            done(reply.rc, {reply.names.begin(), reply.names.end()});
        });
}

void list_after_barrier(core& client, lane which, const std::string& directory, listing_answer done,
                        bool watch) {
    const auto never = rules::child(directory, "_c_" + client.claims().text(0) + "-barrier");
    auto fault = std::make_shared<int>(0);
    client.gate().submit(
        which, answered_by::quorum, request_bytes(never),
        [never](native::calls& c, std::unique_ptr<native::completion> answered) {
            return c.remove(never, any_version, std::move(answered));
        },
        [fault](const native::reply& reply) {
            // Any answer of the leader will do, NoNode or a refusal.
            const auto result = rules::judge(rules::request::remove, reply.rc);
            if (result == rules::outcome::lost || result == rules::outcome::not_sent ||
                result == rules::outcome::later)
                *fault = reply.rc;
        });
    list(
        client, which, directory,
        [fault, done = std::move(done)](int code, std::vector<std::string> names) mutable {
            done(*fault != 0 ? *fault : code, std::move(names));
        },
        watch);
}

void catch_up(core& client, lane which, const std::string& path) {
    client.gate().submit(
        which, answered_by::leader, request_bytes(path),
        [path](native::calls& c, std::unique_ptr<native::completion> done) {
            return c.sync(path, std::move(done));
        },
        [](const native::reply&) {});
}

} // namespace paddock::detail
