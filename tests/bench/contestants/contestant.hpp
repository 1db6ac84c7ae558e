#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <iostream>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

/// What the contestants in C++ share. A contestant is started with the addresses of its servers
/// (host:port,…). Each line of its input asks for one measurement, `WORKLOAD name=value …`; it
/// answers with one line of JSON, and leaves at the end of its input.
namespace paddock::bench {

using steady = std::chrono::steady_clock;

/// One line of the input.
class job {
public:
    explicit job(const std::string& line);

    const std::string& workload() const { return workload_; }
    bool has(const std::string& name) const { return words_.contains(name); }
    const std::string& text(const std::string& name) const { return words_.at(name); }
    std::size_t number(const std::string& name) const { return std::stoul(text(name)); }
    std::size_t number(const std::string& name, std::size_t otherwise) const {
        return has(name) ? number(name) : otherwise;
    }

private:
    std::string workload_;
    std::map<std::string, std::string> words_;
};

/// What is measured between begin() and the first operation after its time. The time is five times
/// as long where there have been fewer operations than contenders. Any thread may count.
class measurement {
public:
    explicit measurement(const job& wanted);

    void begin();
    /// Counts an operation that was asked for at this time, and is done now.
    void count(steady::time_point asked, std::size_t contender = 0);
    bool over() const { return over_; }
    /// Ends it before its time.
    void end();

    void add(const std::string& name, double value) { more_.emplace_back(name, value); }
    /// How many operations per second came after one of another contender.
    void add_handoffs();
    void print();

private:
    void end_now(steady::time_point now);

    const std::chrono::duration<double> length_;
    const std::size_t contenders_;
    std::mutex mutex_;
    steady::time_point begun_{}, ended_{};
    double cpu_us_ = 0;
    std::size_t last_ = 0, handoffs_ = 0, late_ = 0;
    std::vector<float> waited_ms_;
    std::vector<std::pair<std::string, double>> more_;
    std::atomic<bool> over_ = false;
};

double resident_kib();

/// Measures what the input asks for: `measure(wanted, figures)`.
template <typename Measure>
void serve(Measure measure) {
    for (std::string line; std::getline(std::cin, line);) {
        const job wanted(line);
        measurement figures(wanted);
        measure(wanted, figures);
        figures.print();
    }
}

} // namespace paddock::bench
