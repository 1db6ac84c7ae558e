#include "waiting_line.hpp"

#include "text.hpp"

#include <chrono>
#include <iostream>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

namespace cli {

namespace {

std::size_t columns() {
    winsize size{};
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/// At most so many characters of UTF-8.
std::string cut(std::string text, std::size_t most) {
    std::size_t characters = 0;
    for (std::size_t n = 0; n < text.size(); ++n)
        if ((static_cast<unsigned char>(text[n]) & 0xc0) != 0x80 && ++characters > most)
            return text.substr(0, n);
    return text;
}

} // namespace

std::string describe(const paddock::contender& one) {
    std::string text = printable(one.label);
    if (!one.host.empty()) text += (text.empty() ? "" : " on ") + printable(one.host);
    if (one.pid != 0) text += (text.empty() ? "process " : ", process ") + std::to_string(one.pid);
    return text.empty() ? "somebody unknown" : text;
}

std::string describe(paddock::boot_clock::duration time) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time).count();
    const auto two = [](long long number) {
        return (number < 10 ? "0" : "") + std::to_string(number);
    };
    const auto minutes = seconds / 60;
    const auto rest = ':' + two(seconds % 60);
    if (minutes < 60) return std::to_string(minutes) + rest;
    return std::to_string(minutes / 60) + ':' + two(minutes % 60) + rest;
}

waiting_line::waiting_line(std::string lock, bool quiet)
    : lock_(std::move(lock)), quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1) {}

waiting_line::~waiting_line() { clear(); }

void waiting_line::show(std::size_t ahead, const std::optional<paddock::contender>& holder) {
    std::string text = "paddock: waiting for " + printable(lock_) + ", ";
    text += ahead == 0 ? "next" : std::to_string(ahead) + " ahead";
    if (holder) {
        const auto held = std::chrono::system_clock::now() - holder->since;
        const bool known = holder->since.time_since_epoch().count() != 0;
        text += "; held ";
        if (known && terminal_ && held.count() >= 0) text += "for " + describe(held) + ' ';
        text += "by " + describe(*holder);
    }
    show(text);
}

void waiting_line::show_leader(const paddock::contender& leader) {
    show("paddock: " + printable(lock_) + " is led by " + describe(leader));
}

void waiting_line::show(const std::string& text) {
    if (quiet_) return;
    if (terminal_) {
        const auto waited = describe(paddock::boot_clock::now() - begin_) + "  ";
        std::cerr << "\r\x1b[K" << cut(waited + text, columns() - 1) << std::flush;
    } else if (text != told_) {
        std::cerr << text + "\n";
    }
    told_ = text;
}

void waiting_line::clear() {
    if (terminal_ && !told_.empty()) std::cerr << "\r\x1b[K" << std::flush;
    told_.clear();
}

} // namespace cli
