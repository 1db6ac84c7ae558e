// The C client's multi-threaded library, used synchronously as the textbooks do: one thread per
// lock, with the three calls that an uncontended lock and unlock need.
#include "contestant.hpp"

#include <zookeeper/zookeeper.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <thread>

using namespace paddock::bench;

namespace {

void expect(int code, const char* what) {
    if (code == ZOK) return;
    std::fprintf(stderr, "%s: %s\n", what, zerror(code));
    std::exit(1);
}

zhandle_t* connect(const char* servers) {
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    zhandle_t* const handle = zookeeper_init(servers, nullptr, 10'000, nullptr, nullptr, 0);
    while (zoo_state(handle) != ZOO_CONNECTED_STATE)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return handle;
}

void contend(zhandle_t* handle, const std::string& directory, measurement& figures) {
    const auto node = directory + "/_c_00000000-0000-0000-0000-000000000000-lock-";
    std::array<char, 256> path{};
    while (!figures.over()) {
        const auto asked = steady::now();
        expect(zoo_create(handle, node.c_str(), "", 0, &ZOO_OPEN_ACL_UNSAFE,
                          ZOO_EPHEMERAL | ZOO_SEQUENCE, path.data(), path.size()),
               "create");
        String_vector names{};
        expect(zoo_get_children(handle, directory.c_str(), 0, &names), "get_children");
        if (names.count != 1) std::exit(1);
        deallocate_String_vector(&names);
        figures.count(asked);
        expect(zoo_delete(handle, path.data(), -1), "delete");
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    serve([&](const job& wanted, measurement& figures) {
        zhandle_t* const handle = connect(argv[1]);
        std::vector<std::string> directories;
        for (std::size_t i = 0; i < wanted.number("locks"); ++i) {
            directories.push_back(wanted.text("path") + '-' + std::to_string(i));
            const auto code = zoo_create(handle, directories.back().c_str(), "", 0,
                                         &ZOO_OPEN_ACL_UNSAFE, 0, nullptr, 0);
            if (code != ZNODEEXISTS) expect(code, "create");
        }
        figures.begin();
        std::vector<std::thread> threads;
        for (const auto& directory : directories)
            threads.emplace_back([&] { contend(handle, directory, figures); });
        for (auto& thread : threads)
            thread.join();
        zookeeper_close(handle);
    });
}
