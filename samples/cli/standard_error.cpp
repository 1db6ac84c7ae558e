#include "standard_error.hpp"

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <iostream>
#include <mutex>
#include <poll.h>
#include <streambuf>
#include <string>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

namespace cli {

namespace {

constexpr std::size_t most_waiting = 64 * 1024;

/// Until it is written, or fails. Other programs may have made the file non-blocking.
void write_errors(const std::string& text) {
    for (std::size_t done = 0; done < text.size();) {
        const auto written = write(STDERR_FILENO, text.data() + done, text.size() - done);
        if (written > 0) done += static_cast<std::size_t>(written);
        if (written >= 0 || errno == EINTR) continue;
        if (errno != EAGAIN) return;
        pollfd writable{STDERR_FILENO, POLLOUT, 0};
        poll(&writable, 1, -1);
    }
}

class background_writer final : public std::streambuf {
public:
    void finish(std::chrono::milliseconds limit) {
        std::unique_lock lock(mutex_);
        written_.wait_for(lock, limit, [&] { return waiting_.empty(); });
    }

protected:
    int_type overflow(int_type c) override {
        const char one = traits_type::to_char_type(c);
        xsputn(&one, 1);
        return c;
    }
    std::streamsize xsputn(const char* text, std::streamsize size) override {
        line_.append(text, static_cast<std::size_t>(size));
        if (line_.ends_with('\n')) sync();
        return size;
    }
    int sync() override {
        if (line_.empty()) return 0;
        if (!start()) {
            write_errors(std::exchange(line_, {}));
            return 0;
        }
        std::unique_lock lock(mutex_);
        const bool stuck = !waiting_.empty();
        if (waiting_.size() + line_.size() <= most_waiting) waiting_ += line_;
        line_.clear();
        lock.unlock();
        more_.notify_one();
        // It stands before what the command writes next, unless nobody reads.
        if (!stuck) finish(std::chrono::milliseconds(20));
        return 0;
    }

private:
    /// False if there may be no thread: the user has too many processes.
    bool start() {
        try {
            if (!started_) std::thread([this] { run(); }).detach(); // takes no signals, as this one
            started_ = true;
        } catch (const std::system_error&) {
        }
        return started_;
    }

    [[noreturn]] void run() {
        std::unique_lock lock(mutex_);
        for (;;) {
            more_.wait(lock, [&] { return !waiting_.empty(); });
            const std::string text = waiting_;
            lock.unlock();
            write_errors(text);
            lock.lock();
            waiting_.erase(0, text.size());
            if (waiting_.empty()) written_.notify_all();
        }
    }

    std::string line_{};
    std::mutex mutex_{};
    std::condition_variable more_{}, written_{};
    std::string waiting_{}; ///< with what is being written
    bool started_ = false;
};

/// Never destroyed: the thread may be at work until the process ends.
background_writer* the_writer = nullptr;

} // namespace

void write_errors_in_background() {
    the_writer = new background_writer;
    std::cerr.rdbuf(the_writer);
    std::cerr.unsetf(std::ios::unitbuf); // or pieces of a line are flushed
}

void finish_errors() {
    if (the_writer != nullptr) the_writer->finish(std::chrono::seconds(1));
}

} // namespace cli
