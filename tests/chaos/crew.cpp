#include "crew.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace paddock::test {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

fs::path make_folder() {
    std::string name = (fs::temp_directory_path() / "paddock-chaos-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
        throw std::runtime_error("no temporary folder could be made at " + name);
    return name;
}

} // namespace

crew::crew(zk_ensemble& ensemble, const crew_terms& terms)
    : terms_(terms), folder_(make_folder()), posts_(terms.size) {
    for (std::size_t i = 0; i < posts_.size(); ++i) {
        for (std::size_t server = 0; server < zk_ensemble::size; ++server)
            posts_[i].links[server] = &room_.add(ensemble.server(server).port());
        start(i);
    }
}

crew::~crew() {
    posts_.clear();
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
}

void crew::start(std::size_t number) {
    auto& p = posts_[number];
    p.name = 'w' + std::to_string(number) + '-' + std::to_string(++p.generation);
    std::string servers;
    for (const auto* link : p.links)
        servers += (servers.empty() ? "" : ",") + link->address();
    // Every other client is told the tickTime.
    const auto tick = number % 2 == 0 ? terms_.tick : 0ms;
    const auto seed = terms_.seed * 1000 + number * 100 + static_cast<std::size_t>(p.generation);
    const std::vector<std::string> words{PADDOCK_CHAOS_WORKER,
                                         "servers=" + servers,
                                         "folder=" + folder_.string(),
                                         "name=" + p.name,
                                         "session=" + std::to_string(terms_.session.count()),
                                         "tick=" + std::to_string(tick.count()),
                                         "permits=" + std::to_string(terms_.permits),
                                         "seed=" + std::to_string(seed)};
    p.process = std::make_unique<child_process>(words, folder_.string(),
                                                (folder_ / (p.name + ".log")).string());
}

std::vector<std::size_t> crew::holders() const {
    constexpr std::size_t enough = 64;
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < posts_.size(); ++i) {
        const auto newest = read_holds(folder_ / (posts_[i].name + ".holds"), enough);
        if (std::any_of(newest.begin(), newest.end(), [](const auto& h) {
                constexpr std::int64_t a_while = 50'000'000;
                return h.end == fate::held && h.until - h.from > a_while;
            }))
            found.push_back(i);
    }
    return found;
}

void crew::resume(std::size_t post) { posts_[post].process->signal(SIGCONT); }

void crew::replace(std::size_t post) {
    posts_[post].process.reset();
    start(post);
}

std::string crew::said(const post& by) const {
    std::ifstream file(folder_ / (by.name + ".log"));
    return {std::istreambuf_iterator<char>(file), {}};
}

void crew::check_alive() {
    for (auto& p : posts_)
        if (p.process->wait_for(0ms))
            throw std::runtime_error(p.name + " has ended; it said:\n" + said(p));
}

std::map<std::string, std::size_t> crew::grants() const {
    std::map<std::string, std::size_t> all;
    for (const auto& p : posts_) {
        for (const auto* lock : {"one", "two", "three", "shared", "permits"})
            all[p.name + ' ' + lock];
        for (const auto& h : read_holds(folder_ / (p.name + ".holds")))
            ++all[p.name + ' ' + h.lock];
    }
    return all;
}

void crew::tell_to_stop() {
    for (const auto& p : posts_)
        std::ofstream(folder_ / (p.name + ".stop"));
}

bool crew::done() {
    return std::all_of(posts_.begin(), posts_.end(), [&](auto& p) {
        if (!p.process->wait_for(0ms)) return false;
        if (!fs::exists(folder_ / (p.name + ".done")))
            throw std::runtime_error(p.name + " has failed; it said:\n" + said(p));
        return true;
    });
}

} // namespace paddock::test
