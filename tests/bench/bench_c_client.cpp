// The yardstick: the C client's multi-threaded library, used synchronously, one thread per lock,
// with the three calls that an uncontended lock and unlock need.
//     bench_c_client HOST:PORT LOCKS CYCLES
#include "figures.hpp"

#include <zookeeper/zookeeper.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

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
        std::this_thread::yield();
    return handle;
}

void cycles(zhandle_t* handle, const std::string& directory, long count) {
    const auto node = directory + "/_c_00000000-0000-0000-0000-000000000000-lock-";
    std::array<char, 256> path{};
    for (long i = 0; i < count; ++i) {
        expect(zoo_create(handle, node.c_str(), "", 0, &ZOO_OPEN_ACL_UNSAFE,
                          ZOO_EPHEMERAL | ZOO_SEQUENCE, path.data(), path.size()),
               "create");
        String_vector names{};
        expect(zoo_get_children(handle, directory.c_str(), 0, &names), "get_children");
        if (names.count != 1) std::exit(1);
        deallocate_String_vector(&names);
        expect(zoo_delete(handle, path.data(), -1), "delete");
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    const auto locks = std::atoi(argv[2]);
    const auto count = std::atol(argv[3]);
    zhandle_t* const handle = connect(argv[1]);
    std::vector<std::string> directories;
    for (int i = 0; i < locks; ++i) {
        directories.push_back("/bench_c_client_" + std::to_string(i));
        const auto code = zoo_create(handle, directories.back().c_str(), "", 0,
                                     &ZOO_OPEN_ACL_UNSAFE, 0, nullptr, 0);
        if (code != ZNODEEXISTS) expect(code, "create");
    }
    const paddock::bench::stopwatch watch;
    std::vector<std::thread> threads;
    for (const auto& directory : directories)
        threads.emplace_back([&] { cycles(handle, directory, count); });
    for (auto& thread : threads)
        thread.join();
    watch.tell(count * locks);
    zookeeper_close(handle);
}
