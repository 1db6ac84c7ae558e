#include "lock_harness.hpp"

#include <cstdio>

namespace paddock::test {

lock_call ask(mutex& m, std::function<void()> then) {
    return start<guard>([&](auto token) { m.lock(std::move(token)); }, std::move(then));
}
lock_call ask_now(mutex& m) {
    return start<guard>([&](auto token) { m.try_lock(std::move(token)); });
}
lock_call ask_for(mutex& m, std::chrono::nanoseconds limit) {
    return start<guard>([&](auto token) { m.try_lock_for(limit, std::move(token)); });
}
under_way<> give_back(guard& g) {
    return start([&](auto token) { g.unlock(std::move(token)); });
}
under_way<> end_of(guard& g) { return follow_end(g); }

asio::awaitable<void> granted(lock_call a) {
    co_await finished(a);
    CHECK_MESSAGE(!a->error, a->error.message());
    CHECK(held(a).valid());
}

asio::awaitable<void> unlocked(lock_call a) {
    const auto end = give_back(held(a));
    co_await finished(end);
    CHECK_MESSAGE(!end->error, end->error.message());
}

asio::awaitable<lock_call> next_granted(std::vector<lock_call>& waiting) {
    const auto done = [](const lock_call& a) { return a->done(); };
    co_await eventually([&] { return std::any_of(waiting.begin(), waiting.end(), done); });
    REQUIRE(std::count_if(waiting.begin(), waiting.end(), done) == 1);
    const auto next = std::find_if(waiting.begin(), waiting.end(), done);
    const auto a = *next;
    waiting.erase(next);
    co_await granted(a);
    co_return a;
}

int sequence_of(std::string_view path) {
    return path.size() < 10 ? -1 : std::stoi(std::string(path.substr(path.size() - 10)));
}

std::vector<std::string> queue_at(foreigner& by, const std::string& directory) {
    std::vector<std::string> names;
    if (code_of([&] { names = by.children(directory); }) != zk_code::ok) return {};
    std::sort(names.begin(), names.end(),
              [](const auto& a, const auto& b) { return sequence_of(a) < sequence_of(b); });
    return names;
}

std::string queue_up(foreigner& by, const std::string& directory, const std::string& marker) {
    static int count = 0;
    char name[64];
    std::snprintf(name, sizeof name, "/_c_deadbeef-0000-4000-8000-%012d-", ++count);
    return by.create(directory + name + marker, "", node_mode::ephemeral_sequential);
}

client_options over_front(const std::unique_ptr<tls_front>& front, client_options options) {
    if (front) options.tls = tls({.ca = tls_front::ca_file()});
    return options;
}

scene::scene(asio::any_io_executor executor, client_options options, mutex_options terms,
             const std::string& tail)
    : path(fresh_root() + tail)
    , zk(executor, address(), over_front(front, std::move(options)))
    , lock(zk, path, std::move(terms)) {
    direct.make_path(path);
}

std::vector<std::int32_t> scene::requests() const {
    std::vector<std::int32_t> all;
    for (const auto& f : proxy.snapshot().frames)
        if (f.way == direction::up && f.counts()) all.push_back(f.opcode);
    return all;
}

asio::awaitable<void> scene::until_queue(std::size_t nodes) {
    co_await eventually([&] { return queue().size() == nodes; });
}

asio::awaitable<void> scene::until_connected() {
    co_await eventually([&] { return zk.state() == client_state::connected; });
}

void expire(scene& s) { kill_session(shared_server().address(), s.proxy.last_credentials()); }

client_options short_session(std::chrono::milliseconds timeout) {
    client_options options;
    options.session_timeout = timeout;
    return options;
}

} // namespace paddock::test
