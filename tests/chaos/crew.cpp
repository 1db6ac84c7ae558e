#include "crew.hpp"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace paddock::test {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

} // namespace

crew::crew(crew_terms terms) : terms_(std::move(terms)), posts_(terms_.size) {
    for (std::size_t i = 0; i < posts_.size(); ++i) {
        for (const auto port : terms_.servers(i))
            posts_[i].links.push_back(&room_.add(port));
        start(i);
    }
}

void crew::start(std::size_t number) {
    auto& p = posts_[number];
    p.name = 'w' + std::to_string(number) + '-' + std::to_string(++p.generation);
    std::string servers;
    for (const auto* link : p.links)
        servers += (servers.empty() ? "" : ",") + link->address();
    const auto seed = terms_.seed * 1000 + number * 100 + static_cast<std::size_t>(p.generation);
    std::vector<std::string> words{terms_.program, "servers=" + servers,
                                   "folder=" + folder().string(), "name=" + p.name,
                                   "seed=" + std::to_string(seed)};
    const auto further = terms_.words(number);
    words.insert(words.end(), further.begin(), further.end());
    p.process = std::make_unique<child_process>(words, folder().string(),
                                                (folder() / (p.name + ".log")).string());
}

std::vector<std::size_t> crew::holders() const {
    constexpr std::size_t enough = 64;
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < posts_.size(); ++i) {
        const auto newest = read_holds(folder() / (posts_[i].name + ".holds"), enough);
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
    std::ifstream file(folder() / (by.name + ".log"));
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
        for (const auto& lock : terms_.locks)
            all[p.name + ' ' + lock];
        for (const auto& h : read_holds(folder() / (p.name + ".holds")))
            ++all[p.name + ' ' + h.lock];
    }
    return all;
}

void crew::tell_to_stop() {
    for (const auto& p : posts_)
        std::ofstream(folder() / (p.name + ".stop"));
}

bool crew::done() {
    return std::all_of(posts_.begin(), posts_.end(), [&](auto& p) {
        if (!p.process->wait_for(0ms)) return false;
        if (!fs::exists(folder() / (p.name + ".done")))
            throw std::runtime_error(p.name + " has failed; it said:\n" + said(p));
        return true;
    });
}

} // namespace paddock::test
