#include "session/listing.hpp"

#include "rules/outcome.hpp"
#include "rules/paths.hpp"

namespace paddock::detail {

void list(dispatcher& to, lane which, const std::string& directory, listing_answer done,
          bool watch) {
    to.submit(which, requests::list{directory, watch},
              [done = std::move(done)](const native::reply& reply) mutable {
                  done(reply.rc, {reply.names.begin(), reply.names.end()});
              });
}

void list_after_barrier(dispatcher& to, const rules::claims& ids, lane which,
                        const std::string& directory, listing_answer done, bool watch) {
    const auto never = rules::child(directory, "_c_" + ids.text(0) + "-barrier");
    auto fault = std::make_shared<int>(0);
    to.submit(which, requests::remove{never}, [fault](const native::reply& reply) {
        // Any answer of the leader will do, NoNode or a refusal.
        const auto result = rules::judge(rules::request_kind::remove, reply.rc);
        if (result == rules::outcome::lost || result == rules::outcome::not_sent ||
            result == rules::outcome::later)
            *fault = reply.rc;
    });
    list(
        to, which, directory,
        [fault, done = std::move(done)](int code, std::vector<std::string> names) mutable {
            done(*fault != 0 ? *fault : code, std::move(names));
        },
        watch);
}

void catch_up(dispatcher& to, lane which, const std::string& path) {
    to.submit(which, requests::sync{path}, [](const native::reply&) {});
}

} // namespace paddock::detail
