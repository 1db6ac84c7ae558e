#pragma once

#include "hold_journal.hpp"
#include "support/links.hpp"
#include "support/process.hpp"
#include "support/temporary_folder.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace paddock::test {

struct crew_terms {
    std::size_t size = 4;
    std::uint32_t seed = 1;
    std::string program{};            ///< the worker of this system
    std::vector<std::string> locks{}; ///< which each process takes
    /// The ports of the servers for the process at a post.
    std::function<std::vector<std::uint16_t>(std::size_t post)> servers{};
    /// The further arguments of the process at a post.
    std::function<std::vector<std::string>(std::size_t post)> words{};
};

/// The processes (worker.cpp) that contend for the locks, each at a post with links of its own to
/// all servers. They die with this object.
class crew {
public:
    explicit crew(crew_terms terms);
    crew(const crew&) = delete;
    crew& operator=(const crew&) = delete;

    std::size_t size() const { return posts_.size(); }
    /// One to each server.
    const std::vector<tcp_link*>& links(std::size_t post) const { return posts_[post].links; }

    /// Processes that have held a lock for a while.
    std::vector<std::size_t> holders() const;

    void pause(std::size_t post) { posts_[post].process->pause(); }
    void resume(std::size_t post);
    /// As by a power cut. Another process takes the post, with a client of its own.
    void replace(std::size_t post);

    /// Throws, with its output, if a process has ended by itself.
    void check_alive();
    std::vector<hold_record> holds() const { return read_all_holds(folder()); }
    /// How often each running process was granted each of the locks; all of them are in it.
    std::map<std::string, std::size_t> grants() const;

    void tell_to_stop();
    /// Whether all have come to an orderly end.
    bool done();

private:
    struct post {
        std::vector<tcp_link*> links{};
        std::string name{};
        std::unique_ptr<child_process> process{};
        int generation = 0;
    };
    const std::filesystem::path& folder() const { return folder_.path(); }
    void start(std::size_t post);
    std::string said(const post& by) const;

    crew_terms terms_;
    temporary_folder folder_;
    link_room room_;
    std::vector<post> posts_;
};

} // namespace paddock::test
