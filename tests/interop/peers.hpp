#pragma once

#include "journal.hpp"
#include "support/foreigner.hpp"
#include "support/process.hpp"
#include "support/temporary_folder.hpp"
#include "support/zk_server.hpp"

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

// Programs in three languages that contend for one lock. All of them take the same arguments, as
// words `key=value`:
//
//     server      host:port
//     folder      holds the journal (journal.hpp), and NAME.stop when NAME shall come to an end
//     name        of this process, in the journal
//     path, kind  of the lock; which kinds there are depends on the program
//     limit       how much may be inside together: the permits of a semaphore
//     contenders  how many there are in this process
//     session     the session timeout in milliseconds
//     mode        loop: take and release it, by every call there is, until told to stop
//                 hold: take it and keep it until told to stop
//                 twice (kazoo): take and release it, at once and again when told to stop
//     persistent_parents (paddock)  if given, missing parents are made as persistent nodes

namespace paddock::test {

enum class language { paddock, curator, kazoo };

struct peer_terms {
    language program = language::paddock;
    std::string name{};
    std::string kind = "mutex";
    int contenders = 3;
    std::string mode = "loop";
    std::chrono::milliseconds session{10000};
    bool persistent_parents = false;
};

/// Where contenders of a kind queue, and the names of their nodes there.
struct queue_shape {
    std::string below{}; ///< the lock's path
    std::string name = "_c_deadbeef-0000-4000-8000-000000000000-lock-";
};

/// A server that all test cases share. It deletes no empty containers, so that the sequence numbers
/// of a queue never start again.
zk_server& patient_server();

/// One lock at a path of its own, and the processes that contend for it. They die with this object.
/// Every wait fails (throws) when it takes too long and when a process ends unasked, with what that
/// process said. For one thread, which must live as long as the processes.
class arena {
public:
    explicit arena(zk_server& server, int limit = 1, queue_shape shape = {});
    arena(const arena&) = delete;
    arena& operator=(const arena&) = delete;

    const std::string& path() const { return path_; }
    int limit() const { return limit_; }
    foreigner& direct() { return direct_; }

    void start(const peer_terms& terms);
    /// Waits until this process holds the lock.
    void until_inside(const std::string& name);
    /// Waits until so many contenders are in the queue.
    void until_queue(std::size_t contenders);
    /// Waits until a contender in the queue watches another one's node: it has decided to wait.
    void until_watched();
    /// Waits until each of these processes has been granted so many more, and has given up as
    /// often.
    void until_more(const std::vector<std::string>& names, int granted, int gave_up = 0);
    void until(const std::string& what, const std::function<bool()>& predicate);

    void tell_to_stop(const std::string& name);
    /// Tells all that run to stop, waits for their orderly end, and checks that they left nothing
    /// in the queue.
    void finish();
    /// As by a power cut.
    void kill(const std::string& name);

    verdict so_far() const;
    /// The process's standard output and error.
    std::string said(const std::string& name) const;
    /// Waits until the process has ended, however.
    void until_ended(const std::string& name);

    /// Is first in the queue, so that all contenders have queued when it leaves.
    void block();
    void unblock();

private:
    const std::filesystem::path& folder() const { return folder_.path(); }
    std::vector<std::string> queue();
    std::size_t left_below(const std::string& directory);
    std::vector<std::string> command(const peer_terms& terms) const;
    [[noreturn]] void give_up(const std::string& why) const;

    struct process {
        std::unique_ptr<child_process> child;
        std::filesystem::path log;
        bool running = true;
    };

    zk_server& server_;
    std::string path_;
    int limit_;
    queue_shape shape_;
    foreigner direct_;
    temporary_folder folder_;
    std::map<std::string, process> processes_;
    std::string blocker_;
};

/// All of them contend until each side has been granted `enough` and has given up now and then: the
/// full limit was held at one time, grants were in order, and each process got at least the `share`
/// of them.
void take_turns(arena& a, const std::vector<peer_terms>& peers, int enough, double share);

} // namespace paddock::test
