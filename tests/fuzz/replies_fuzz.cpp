// Any bytes as what a Redis server sends: however they are divided, they are the same replies.

#include "fuzz/target.hpp"
#include "redis/rules/scripts.hpp"

#include <vector>

using namespace paddock::redis::rules;
using paddock::test::expect;

namespace {

struct reading {
    std::vector<reply> replies;
    bool faulty = false;
    friend bool operator==(const reading&, const reading&) = default;
};

reading read(std::string_view bytes, std::size_t piece) {
    reading out;
    reply_reader reader;
    for (std::size_t n = 0; n < bytes.size(); n += piece) {
        reader.feed(bytes.substr(n, piece));
        while (auto one = reader.next())
            out.replies.push_back(std::move(*one));
    }
    out.faulty = !reader.fault().empty();
    return out;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    const auto whole = read(text, size + 1);
    expect(read(text, 1) == whole, "byte by byte it is something else", text);
    expect(read(text, 7) == whole, "in pieces it is something else", text);
    for (const auto& one : whole.replies) {
        expect(one.text.size() <= reply_reader::max_bytes, "a text is too large", text);
        expect(one.items.size() <= reply_reader::max_items, "a list is too large", text);
        read_answer(one);
    }
    return 0;
}
