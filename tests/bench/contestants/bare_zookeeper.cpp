// The floor: the requests of an uncontended lock and unlock, sent as paddock sends them, from a
// bare loop around the C client's single-threaded library. Any time beyond it is paddock's own.
#include "contestant.hpp"

#include <zookeeper/zookeeper.h>

#include <cstdio>
#include <cstdlib>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/socket.h>

using namespace paddock::bench;

namespace {

zhandle_t* handle = nullptr;
int connection = -1;
int unanswered = 0;
std::string created_path;

void expect(int code, const char* what) {
    if (code == ZOK) return;
    std::fprintf(stderr, "%s: %s\n", what, zerror(code));
    std::exit(1);
}

void on_created(int rc, const char* path, const void*) {
    if (rc != ZNODEEXISTS) expect(rc, "create");
    created_path = path != nullptr ? path : "";
    --unanswered;
}

void on_listed(int rc, const String_vector* names, const void*) {
    expect(rc, "get_children");
    if (names->count != 1) std::exit(1);
    --unanswered;
}

void on_deleted(int rc, const void*) {
    expect(rc, "delete");
    --unanswered;
}

void turn() {
    int events = 0;
    timeval timeout{};
    if (zookeeper_interest(handle, &connection, &events, &timeout) != ZOK) return;
    pollfd socket{connection, 0, 0};
    if ((events & ZOOKEEPER_READ) != 0) socket.events |= POLLIN;
    if ((events & ZOOKEEPER_WRITE) != 0) socket.events |= POLLOUT;
    ::poll(&socket, 1, static_cast<int>(timeout.tv_sec * 1000 + timeout.tv_usec / 1000) + 1);
    int ready = 0;
    if ((socket.revents & (POLLIN | POLLERR | POLLHUP)) != 0) ready |= ZOOKEEPER_READ;
    if ((socket.revents & POLLOUT) != 0) ready |= ZOOKEEPER_WRITE;
    zookeeper_process(handle, ready);
    while (unanswered > 0 && zookeeper_process(handle, ZOOKEEPER_READ) == ZOK) {
    }
}

void answers(int count) {
    unanswered = count;
    while (unanswered > 0)
        turn();
}

void cork(int on) { ::setsockopt(connection, IPPROTO_TCP, TCP_CORK, &on, sizeof on); }

void cycle(const std::string& directory, const std::string& node, std::string_view data,
           measurement& figures) {
    const auto asked = steady::now();
    cork(1);
    expect(zoo_acreate(handle, node.c_str(), data.data(), static_cast<int>(data.size()),
                       &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL | ZOO_SEQUENCE, &on_created, nullptr),
           "create");
    expect(zoo_aget_children(handle, directory.c_str(), 0, &on_listed, nullptr), "get_children");
    cork(0);
    answers(2);
    figures.count(asked);
    cork(1);
    expect(zoo_adelete(handle, created_path.c_str(), -1, &on_deleted, nullptr), "delete");
    cork(0);
    answers(1);
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    serve([&](const job& wanted, measurement& figures) {
        handle = zookeeper_init(argv[1], nullptr, 10'000, nullptr, nullptr, 0);
        while (zoo_state(handle) != ZOO_CONNECTED_STATE)
            turn();
        zoo_set_servers_resolution_delay(handle, -1); // else it looks the name up at every turn
        const auto directory = wanted.text("path");
        expect(zoo_acreate(handle, directory.c_str(), "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, &on_created,
                           nullptr),
               "create");
        answers(1);
        const auto node = directory + "/_c_00000000-0000-0000-0000-000000000000-lock-";
        const auto data =
            R"({"host":"localhost","pid":12345,"label":"","time":"2000-01-01T00:00:00.000Z"})";
        figures.begin();
        while (!figures.over())
            cycle(directory, node, data, figures);
        zookeeper_close(handle);
    });
}
