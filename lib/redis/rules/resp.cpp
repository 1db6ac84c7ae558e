#include "redis/rules/resp.hpp"

#include <charconv>
#include <utility>

namespace paddock::redis::rules {

namespace {

constexpr std::string_view line_end = "\r\n";

template <typename Words>
void append_words(std::string& out, const Words& words) {
    out.append("*").append(std::to_string(words.size())).append(line_end);
    for (const auto& word : words) {
        out.append("$").append(std::to_string(word.size())).append(line_end);
        out.append(word).append(line_end);
    }
}

} // namespace

void append_command(std::string& out, std::initializer_list<std::string_view> words) {
    append_words(out, words);
}

void append_command(std::string& out, const std::vector<std::string>& words) {
    append_words(out, words);
}

/// Reads lines and blocks of bytes from a position on; what is incomplete is not there.
struct reply_reader::cursor {
    std::string_view all;
    std::size_t position;

    std::optional<std::string_view> line() {
        const auto end = all.find(line_end, position);
        if (end == all.npos) return {};
        const auto found = all.substr(position, end - position);
        position = end + line_end.size();
        return found;
    }
    std::optional<std::string_view> block(std::size_t size) {
        if (all.size() - position < size) return {};
        const auto found = all.substr(position, size);
        position += size;
        return found;
    }
};

void reply_reader::feed(std::string_view bytes) {
    if (!fault_.empty()) return;
    bytes_.erase(0, std::exchange(taken_, 0));
    bytes_ += bytes;
}

std::optional<reply> reply_reader::next() {
    if (!fault_.empty() || taken_ == bytes_.size()) return {};
    cursor at{bytes_, taken_};
    reply out;
    const bool complete = read(at, out, 0);
    const auto size = complete ? at.position - taken_ : bytes_.size() - taken_;
    if (size > max_bytes) fail("is larger than 64 KiB");
    if (!fault_.empty()) {
        bytes_ = {};
        taken_ = 0;
    }
    if (!complete || !fault_.empty()) return {};
    taken_ = at.position;
    return out;
}

/// False: incomplete, or a fault.
bool reply_reader::read(cursor& at, reply& out, int depth) {
    const auto type = at.block(1);
    if (!type) return false;
    using enum reply::kind;
    switch (type->front()) {
    case '+':
        out.what = status;
        break;
    case '-':
        out.what = error;
        break;
    case ':':
        out.what = number;
        break;
    case '$':
        return read_text(at, out);
    case '*':
        return read_list(at, out, depth);
    default:
        return fail("is not of the Redis protocol");
    }
    const auto line = at.line();
    if (!line) return false;
    if (out.what == number) {
        const auto value = number_of(*line);
        if (!value) return false;
        out.number = *value;
    } else {
        out.text = *line;
    }
    return true;
}

bool reply_reader::read_text(cursor& at, reply& out) {
    const auto line = at.line();
    if (!line) return false;
    const auto size = number_of(*line);
    if (!size) return false;
    if (*size == -1) return true;
    if (*size < 0 || static_cast<std::uint64_t>(*size) > max_bytes)
        return fail("has a string of an impossible size");
    const auto text = at.block(static_cast<std::size_t>(*size));
    const auto end = text ? at.block(line_end.size()) : std::nullopt;
    if (!end) return false;
    if (*end != line_end) return fail("has a string that does not end where its size says");
    out.what = reply::kind::text;
    out.text = *text;
    return true;
}

bool reply_reader::read_list(cursor& at, reply& out, int depth) {
    const auto line = at.line();
    if (!line) return false;
    const auto size = number_of(*line);
    if (!size) return false;
    if (*size == -1) return true;
    if (depth == max_depth) return fail("has lists in lists of lists");
    if (*size < 0 || static_cast<std::uint64_t>(*size) > max_items)
        return fail("has a list of an impossible size");
    out.what = reply::kind::list;
    out.items.resize(static_cast<std::size_t>(*size));
    for (auto& item : out.items)
        if (!read(at, item, depth + 1)) return false;
    return true;
}

std::optional<std::int64_t> reply_reader::number_of(std::string_view digits) {
    std::int64_t value = 0;
    const auto* const end = digits.data() + digits.size();
    const auto [read, problem] = std::from_chars(digits.data(), end, value);
    if (problem == std::errc{} && read == end) return value;
    fail("has text where a number belongs");
    return {};
}

bool reply_reader::fail(std::string_view why) {
    if (fault_.empty()) fault_ = "a reply that " + std::string(why);
    return false;
}

} // namespace paddock::redis::rules
