#include "contestant.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <sys/resource.h>
#include <unistd.h>

namespace paddock::bench {

namespace {

double cpu_us() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto us = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_usec);
    };
    return us(used.ru_utime) + us(used.ru_stime);
}

/// The value below which this part of the sorted values is.
double percentile(const std::vector<float>& sorted, double part) {
    const auto last = static_cast<double>(sorted.size() - 1);
    return sorted[static_cast<std::size_t>(part * last)];
}

} // namespace

job::job(const std::string& line) {
    std::istringstream words(line);
    words >> workload_;
    for (std::string word; words >> word;) {
        const auto equals = word.find('=');
        if (equals == std::string::npos) throw std::runtime_error("no name=value: " + word);
        words_[word.substr(0, equals)] = word.substr(equals + 1);
    }
}

measurement::measurement(const job& wanted)
    : length_(std::stod(wanted.text("seconds"))), contenders_(wanted.number("contenders")) {
    waited_ms_.reserve(1U << 18);
}

void measurement::begin() {
    const std::lock_guard lock(mutex_);
    cpu_us_ = cpu_us();
    begun_ = steady::now();
}

void measurement::count(steady::time_point asked, std::size_t contender) {
    const auto now = steady::now();
    const std::lock_guard lock(mutex_);
    if (over_) ++late_;
    if (over_ || begun_ == steady::time_point{}) return;
    const std::chrono::duration<float, std::milli> waited = now - std::max(asked, begun_);
    waited_ms_.push_back(waited.count());
    if (std::exchange(last_, contender) != contender) ++handoffs_;
    const bool each = waited_ms_.size() >= contenders_;
    if (now - begun_ >= (each ? length_ : 5 * length_)) end_now(now);
}

void measurement::end() {
    const std::lock_guard lock(mutex_);
    if (!over_) end_now(steady::now());
}

void measurement::end_now(steady::time_point now) {
    ended_ = now;
    cpu_us_ = cpu_us() - cpu_us_;
    over_ = true;
}

void measurement::add_handoffs() {
    const std::chrono::duration<double> took = ended_ - begun_;
    add("handoffs", static_cast<double>(handoffs_) / took.count());
}

void measurement::print() {
    if (!over_ || waited_ms_.empty()) throw std::runtime_error("nothing was measured");
    std::sort(waited_ms_.begin(), waited_ms_.end());
    const std::chrono::duration<double> took = ended_ - begun_;
    const auto operations = static_cast<double>(waited_ms_.size());
    std::printf(
        R"({"operations": %.0f, "rate": %.3f, "p50_ms": %.6f, "p99_ms": %.6f, "cpu_us": %.4f)",
        operations, operations / took.count(), percentile(waited_ms_, 0.5),
        percentile(waited_ms_, 0.99), cpu_us_ / operations);
    add("late", static_cast<double>(late_));
    for (const auto& [name, value] : more_)
        std::printf(R"(, "%s": %.4f)", name.c_str(), value);
    std::printf("}\n");
    std::fflush(stdout);
}

double resident_kib() {
    std::ifstream statm("/proc/self/statm");
    long total = 0, resident = 0;
    statm >> total >> resident;
    return static_cast<double>(resident * ::sysconf(_SC_PAGESIZE)) / 1024.0;
}

} // namespace paddock::bench
