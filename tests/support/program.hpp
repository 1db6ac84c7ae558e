#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <cstdio>
#include <exception>
#include <map>
#include <string>

namespace paddock::test {

/// The arguments of a helper program: words `key=value`.
using arguments = std::map<std::string, std::string>;

/// The main function of a helper program: makes a `Worker` of its arguments and runs the worker's
/// `run()`, a coroutine, on one thread.
template <class Worker>
int run_program(int argc, char** argv) {
    arguments given;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const auto middle = word.find('=');
        given[word.substr(0, middle)] = word.substr(middle + 1);
    }
    boost::asio::io_context io(1);
    Worker worker(given);
    boost::asio::co_spawn(io, worker.run(), [](std::exception_ptr failed) {
        if (failed) std::rethrow_exception(failed);
    });
    try {
        io.run();
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    return 0;
}

} // namespace paddock::test
