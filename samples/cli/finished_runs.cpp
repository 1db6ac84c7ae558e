#include "finished_runs.hpp"

#include <paddock/error.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <map>

namespace cli {

namespace {

constexpr std::size_t most_deletes = 100; // in one transaction

/// The earlier runs of other periods; the oldest keys.
std::vector<std::string> superseded(const occasion& when, const std::vector<std::string>& names,
                                    std::size_t keep) {
    auto old = records_of(when.key.empty() ? record_name(when) : "key-", names);
    if (!when.key.empty()) old.resize(old.size() < keep ? 0 : old.size() - keep + 1);
    if (old.size() > most_deletes) old.resize(most_deletes);
    return old;
}

} // namespace

asio::awaitable<std::int64_t> finished_runs::now() {
    const auto answer = asio::as_tuple(asio::use_awaitable);
    const auto [failed, made] = co_await zk_.create(folder_, answer);
    if (failed && failed != paddock::zk_errc::node_exists) throw paddock::system_error(failed);
    co_return (co_await zk_.set(folder_, "", asio::use_awaitable)).mtime;
}

asio::awaitable<std::vector<std::string>> finished_runs::names() {
    const auto answer = asio::as_tuple(asio::use_awaitable);
    auto [failed, found] = co_await zk_.children(folder_, answer);
    if (failed && failed != paddock::zk_errc::no_node) throw paddock::system_error(failed);
    co_return std::move(found.names);
}

asio::awaitable<std::vector<recorded_run>> finished_runs::last_of_each(std::string beginning) {
    const auto answer = asio::as_tuple(asio::use_awaitable);
    std::vector<recorded_run> found;
    const auto children = co_await names();
    std::map<std::string, std::string> last;
    for (const auto& name : records_of(beginning, children))
        last[occasion_of(name)] = name;
    for (const auto& [occasion, name] : last) {
        const auto [failed, read] = co_await zk_.get(folder_ + '/' + name, answer);
        // A later run has taken its place.
        if (failed == paddock::zk_errc::no_node) co_return co_await last_of_each(beginning);
        if (failed) throw paddock::system_error(failed);
        const auto run = parse_finished_run(read.data);
        if (run) found.push_back({name, read.stat.ctime, *run});
    }
    co_return found;
}

asio::awaitable<std::optional<recorded_run>> finished_runs::last(const occasion& when) {
    const auto found = co_await last_of_each(record_name(when));
    if (found.empty()) co_return std::nullopt;
    co_return found.front();
}

asio::awaitable<std::vector<recorded_run>> finished_runs::all() { return last_of_each(""); }

asio::awaitable<void> finished_runs::add(const paddock::guard& lock, const occasion& when,
                                         const finished_run& run, std::size_t keep) {
    const auto answer = asio::as_tuple(asio::use_awaitable);
    for (;;) {
        std::vector<paddock::operation> steps;
        steps.push_back(paddock::op::create{folder_ + '/' + record_name(when), to_text(run),
                                            paddock::create_mode::persistent_sequential});
        const auto children = co_await names();
        for (const auto& old : superseded(when, children, keep))
            steps.push_back(paddock::op::remove{folder_ + '/' + old});
        const bool deletes = steps.size() > 1;
        const auto [failed, done] = co_await lock.transaction(std::move(steps), answer);
        if (!failed) co_return;
        if (failed == paddock::zk_errc::no_node && deletes) continue; // one was forgotten meanwhile
        if (failed != paddock::errc::outcome_unknown) throw paddock::system_error(failed);
        const auto recorded = co_await last(when);
        if (recorded && recorded->of.by == run.by && recorded->of.started == run.started) co_return;
    }
}

asio::awaitable<void> finished_runs::forget(const std::vector<recorded_run>& runs) {
    const auto answer = asio::as_tuple(asio::use_awaitable);
    std::map<std::string, std::string> last;
    for (const auto& run : runs)
        last[occasion_of(run.name)] = run.name;
    const auto children = co_await names();
    for (const auto& name : children) {
        const auto found = last.find(occasion_of(name));
        if (found == last.end() || name > found->second) continue; // a later run counts
        const auto [failed] = co_await zk_.remove(folder_ + '/' + name, answer);
        if (failed && failed != paddock::zk_errc::no_node) throw paddock::system_error(failed);
    }
}

} // namespace cli
