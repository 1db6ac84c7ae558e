// A program that uses the installed library; see installed.sh.
//   program SERVERS [PLUGIN]
//   program --version

#include <paddock/paddock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <dlfcn.h>
#include <exception>
#include <iostream>
#include <string>

/// Uses libzookeeper_mt, in programs that it is linked into: neighbour.cpp.
extern "C" [[gnu::weak]] int use_threaded_c_client(const char* servers);

namespace {

namespace asio = boost::asio;

bool hears_of_a_bad_argument() {
    asio::io_context io;
    try {
        const paddock::client zk(io.get_executor(), "host:port");
    } catch (const paddock::system_error& thrown) {
        return thrown.code() == paddock::errc::bad_argument;
    }
    return false;
}

/// An exception of another shared object is caught here, with an equal error code.
bool hears_from_plugin(const char* path) {
    void* const plugin = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) {
        std::cerr << ::dlerror() << '\n';
        return false;
    }
    const auto fail = reinterpret_cast<void (*)()>(::dlsym(plugin, "fail"));
    try {
        fail();
    } catch (const paddock::system_error& thrown) {
        return thrown.code() == paddock::errc::lock_lost;
    }
    return false;
}

asio::awaitable<void> lock(std::string servers) {
    paddock::client zk(co_await asio::this_coro::executor, servers);
    paddock::mutex mutex(zk, "/locks/installed");
    paddock::guard hold = co_await mutex.lock();
    std::cout << "locked " << hold.valid() << std::endl;
    co_await hold.unlock();
    co_await zk.close();
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    if (argv[1] == std::string("--version")) {
        std::cout << paddock::version().text << '\n';
        return paddock::version().number == PADDOCK_VERSION ? 0 : 8;
    }
    if (!hears_of_a_bad_argument()) return 3;
    if (argc > 2 && !hears_from_plugin(argv[2])) return 4;
    if (use_threaded_c_client != nullptr && use_threaded_c_client(argv[1]) != 0) return 5;
    asio::io_context io;
    std::exception_ptr failure;
    asio::co_spawn(io, lock(argv[1]), [&](std::exception_ptr thrown) { failure = thrown; });
    io.run();
    try {
        if (failure) std::rethrow_exception(failure);
    } catch (const paddock::system_error& thrown) {
        std::cout << thrown.what() << '\n';
        return thrown.code() == paddock::errc::wrong_c_client ? 6 : 7;
    }
    return 0;
}
