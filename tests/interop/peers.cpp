#include "peers.hpp"

#include "support/admin.hpp"
#include "support/time_scale.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <thread>
#include <utility>

namespace paddock::test {

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr auto patience = 90s;
constexpr auto look_again = 5ms;
/// How often each side must have given up.
constexpr int often = 10;
constexpr std::size_t enough_said = 4000;
/// The server's text in place of the session that owns an ephemeral node.
constexpr auto container_owner = std::numeric_limits<std::int64_t>::min();

std::string curator_class_path() {
    // Where Debian's packages put them; curator-recipes.jar names what it depends on by itself.
    const char* given = std::getenv("PADDOCK_CURATOR_CLASSPATH");
    const std::string jars = PADDOCK_JAVA_JARS;
    return std::string(CURATOR_PEER) + ':' +
           (given ? given : jars + "/curator-recipes.jar:" + jars + "/slf4j-simple.jar");
}

} // namespace

zk_server& patient_server() {
    static zk_server server([] {
        zk_server_options options;
        options.container_check_interval = 1h;
        return options;
    }());
    return server;
}

arena::arena(zk_server& server, int limit, queue_shape shape)
    : server_(server)
    , path_(fresh_root() + "/lock")
    , limit_(limit)
    , shape_(std::move(shape))
    , direct_(server.address()) {}

std::vector<std::string> arena::command(const peer_terms& terms) const {
    std::vector<std::string> words;
    if (terms.program == language::paddock) words = {PADDOCK_PEER};
    if (terms.program == language::kazoo) words = {KAZOO_PYTHON, KAZOO_PEER};
    if (terms.program == language::curator) {
        words = {"java", "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"};
        words.insert(words.end(),
                     {"-XX:-UsePerfData", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"});
        words.insert(words.end(), {"-cp", curator_class_path(), "CuratorPeer"});
    }
    for (const auto& [key, value] :
         std::map<std::string, std::string>{{"server", server_.address()},
                                            {"folder", folder().string()},
                                            {"name", terms.name},
                                            {"path", path_},
                                            {"kind", terms.kind},
                                            {"limit", std::to_string(limit_)},
                                            {"contenders", std::to_string(terms.contenders)},
                                            {"session", std::to_string(terms.session.count())},
                                            {"mode", terms.mode}})
        words.push_back(key + '=' + value);
    if (terms.persistent_parents) words.push_back("persistent_parents=yes");
    return words;
}

void arena::start(const peer_terms& terms) {
    process p;
    p.log = folder() / (terms.name + ".log");
    p.child = std::make_unique<child_process>(command(terms), folder().string(), p.log.string());
    processes_[terms.name] = std::move(p);
}

void arena::until(const std::string& what, const std::function<bool()>& predicate) {
    const auto deadline = steady_clock::now() + scaled(patience);
    while (!predicate()) {
        for (auto& [name, p] : processes_)
            if (p.running && p.child->wait_for(0ms)) give_up(name + " has ended");
        if (steady_clock::now() > deadline) give_up("not in time: " + what);
        std::this_thread::sleep_for(look_again);
    }
}

void arena::give_up(const std::string& why) const {
    std::string text = why;
    for (const auto& [name, p] : processes_)
        text += "\n--- " + name + ":\n" + said(name);
    text += "\n--- the journal ends with:\n";
    const auto entries = read_journal(folder() / "journal");
    for (auto i = entries.size() - std::min<std::size_t>(entries.size(), 12); i < entries.size();
         ++i)
        text += entries[i].what + ' ' + entries[i].contender + '\n';
    throw std::runtime_error(text);
}

std::string arena::said(const std::string& name) const {
    std::ifstream file(processes_.at(name).log);
    const std::string all(std::istreambuf_iterator<char>(file), {});
    return all.size() > enough_said ? all.substr(all.size() - enough_said) : all;
}

verdict arena::so_far() const { return judge(read_journal(folder() / "journal"), limit_); }

void arena::until_inside(const std::string& name) {
    until(name + " is inside", [&] {
        const auto now = so_far();
        return std::any_of(now.inside.begin(), now.inside.end(), [&](const auto& contender) {
            return contender.first.starts_with(name + '.');
        });
    });
}

void arena::until_more(const std::vector<std::string>& names, int granted, int gave_up) {
    auto before = so_far();
    until("every process gets its share", [&] {
        auto now = so_far();
        return std::all_of(names.begin(), names.end(), [&](const auto& name) {
            auto& old = before.processes[name];
            auto& done = now.processes[name];
            return done.granted >= old.granted + granted && done.gave_up >= old.gave_up + gave_up;
        });
    });
}

std::vector<std::string> arena::queue() {
    std::vector<std::string> names;
    if (code_of([&] { names = direct_.children(path_ + shape_.below); }) == zk_code::no_node)
        return {};
    return names;
}

void arena::until_queue(std::size_t contenders) {
    until("the queue has " + std::to_string(contenders),
          [&] { return queue().size() == contenders; });
}

void arena::until_watched() {
    until("a contender watches another one", [&] {
        const auto now = so_far();
        if (!now.complaints.empty()) give_up(now.complaints.front());
        for (const auto& [path, sessions] : watches_by_path(server_.admin_port())) {
            const auto node = path.starts_with(path_ + '/') ? direct_.stat(path) : std::nullopt;
            if (!node) continue;
            for (const auto& session : sessions)
                if (std::stoull(session, nullptr, 0) !=
                    static_cast<unsigned long long>(node->ephemeral_owner))
                    return true;
        }
        return false;
    });
}

void arena::tell_to_stop(const std::string& name) { std::ofstream(folder() / (name + ".stop")); }

void arena::until_ended(const std::string& name) {
    auto& p = processes_.at(name);
    p.running = false;
    if (!p.child->wait_for(scaled(patience))) give_up(name + " does not end");
}

void arena::finish() {
    for (const auto& [name, p] : processes_)
        if (p.running) tell_to_stop(name);
    for (const auto& one : processes_) {
        const auto& name = one.first;
        if (!one.second.running) continue;
        until_ended(name);
        CHECK_MESSAGE(so_far().processes[name].done, name << " failed: " << said(name));
    }
    until_queue(0);
    // The sessions of killed processes may last a little longer.
    until("only directories are left", [&] { return left_below(path_) == 0; });
}

std::size_t arena::left_below(const std::string& directory) {
    std::size_t count = 0;
    for (const auto& name : direct_.children(directory)) {
        const auto node = directory + '/' + name;
        const auto there = direct_.stat(node);
        if (!there) continue;
        const bool is_directory =
            there->ephemeral_owner == 0 || there->ephemeral_owner == container_owner;
        count += is_directory ? left_below(node) : 1;
    }
    return count;
}

void arena::kill(const std::string& name) {
    processes_.at(name).child->signal(SIGKILL);
    until_ended(name);
    journal_writer(folder() / "journal").note("dead", name);
}

void arena::block() {
    direct_.make_path(path_ + shape_.below);
    blocker_ = direct_.create(path_ + shape_.below + '/' + shape_.name, "",
                              node_mode::ephemeral_sequential);
}

void arena::unblock() { direct_.remove(blocker_); }

void take_turns(arena& a, const std::vector<peer_terms>& peers, int enough, double share) {
    a.block();
    std::size_t contenders = 1;
    std::vector<std::string> names;
    for (const auto& terms : peers) {
        a.start(terms);
        names.push_back(terms.name);
        const bool share_a_node = terms.kind == "sticky_mutex";
        contenders += share_a_node ? 1 : static_cast<std::size_t>(terms.contenders);
    }
    a.until_queue(contenders);
    a.unblock();
    a.until_more(names, enough, often);
    auto all = a.so_far();
    for (const auto& name : names) {
        const auto& mine = all.processes[name];
        MESSAGE(name << " was granted " << mine.granted << " of " << all.granted()
                     << ", and gave up " << mine.gave_up << " times");
        CHECK(mine.granted >= share * all.granted());
    }
    CHECK((all.together > 1) == (a.limit() > 1));
    a.finish();
    for (const auto& complaint : a.so_far().complaints)
        FAIL_CHECK(complaint);
}

} // namespace paddock::test
