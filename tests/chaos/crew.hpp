#pragma once

#include "hold_journal.hpp"
#include "support/links.hpp"
#include "support/process.hpp"
#include "support/zk_ensemble.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace paddock::test {

struct crew_terms {
    std::size_t size = 4;
    std::chrono::milliseconds session{2000};
    std::chrono::milliseconds tick{400}; ///< of the servers
    int permits = 2;
    std::uint32_t seed = 1;
};

/// The processes (worker.cpp) that contend for the locks, each at a post with links of its own to
/// all servers. They die with this object.
class crew {
public:
    crew(zk_ensemble& ensemble, const crew_terms& terms);
    crew(const crew&) = delete;
    crew& operator=(const crew&) = delete;
    ~crew();

    const crew_terms& terms() const { return terms_; }
    std::size_t size() const { return posts_.size(); }
    tcp_link& link(std::size_t post, std::size_t server) { return *posts_[post].links[server]; }

    /// Processes that have held a lock for a while.
    std::vector<std::size_t> holders() const;

    void pause(std::size_t post) { posts_[post].process->pause(); }
    void resume(std::size_t post);
    /// As by a power cut. Another process takes the post, with a client of its own.
    void replace(std::size_t post);

    /// Throws, with its output, if a process has ended by itself.
    void check_alive();
    std::vector<hold_record> holds() const { return read_all_holds(folder_); }
    /// How often each running process was granted each of the locks; all of them are in it.
    std::map<std::string, std::size_t> grants() const;

    void tell_to_stop();
    /// Whether all have come to an orderly end.
    bool done();

private:
    struct post {
        std::array<tcp_link*, zk_ensemble::size> links{};
        std::string name{};
        std::unique_ptr<child_process> process{};
        int generation = 0;
    };
    void start(std::size_t post);
    std::string said(const post& by) const;

    crew_terms terms_;
    std::filesystem::path folder_;
    link_room room_;
    std::vector<post> posts_;
};

} // namespace paddock::test
