#pragma once

#include "support/session_stage.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace paddock::test {

using detail::lane;
namespace requests = detail::requests;
using words = std::vector<std::string>;

inline constexpr std::int64_t batch_zxid = 77;
inline const auto sequential = requests::share({.mode = create_mode::ephemeral_sequential});

struct answer_seen {
    std::optional<int> rc{};
    std::string path{};
    std::int64_t czxid = 0;
    int refused_step = -1;
    bool wanted = true;
};
using seen_ptr = std::shared_ptr<answer_seen>;

struct batch_stage : session_stage {
    using session_stage::session_stage;

    seen_ptr submit(lane which, detail::request what, std::function<void()> answered = {}) {
        auto seen = std::make_shared<answer_seen>();
        core->dispatcher().submit(
            which, std::move(what),
            [seen, answered](const native::reply& r) {
                CHECK_FALSE(seen->rc);
                seen->rc = r.rc;
                seen->path = r.value;
                seen->czxid = r.stat ? r.stat->czxid : 0;
                seen->refused_step = r.refused_step;
                if (answered) answered();
            },
            [seen] { return seen->wanted; });
        return seen;
    }
    seen_ptr create(const std::string& path, std::function<void()> answered = {}) {
        return submit(lane::lock_work, requests::create{path, {}, sequential, true},
                      std::move(answered));
    }
    seen_ptr remove(const std::string& path) {
        return submit(lane::urgent, requests::remove{path, any_version, true});
    }
    seen_ptr list(const std::string& path) { return submit(lane::lock_work, requests::list{path}); }
    /// Creates that show that the directories exist.
    void know(const words& directories) {
        for (const auto& directory : directories) {
            create(directory + "/first-");
            env->run();
            answer();
        }
        asked();
    }
    /// The batch is executed: `paths` are those of its nodes.
    void execute(const words& paths) {
        std::vector<operation_result> results;
        for (const auto& path : paths)
            results.push_back({.path = path});
        results.push_back({.path = "passing"});
        results.push_back({.stat = {.czxid = batch_zxid, .mzxid = batch_zxid}});
        results.emplace_back();
        answer_multi(std::move(results));
    }
    static std::string batch_of(const words& paths, const std::string& first_directory) {
        std::string all = "multi";
        for (const auto& path : paths)
            all += ' ' + path;
        for (int n = 0; n < 3; ++n)
            all += ' ' + first_directory + "/_paddock_czxid";
        return all;
    }
};

} // namespace paddock::test
