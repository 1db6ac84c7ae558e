// Any bytes as the data of a node: the data of other contenders, and numbers of permits.

#include "client/metadata.hpp"
#include "fuzz/target.hpp"
#include "locks/semaphore/permit_counter.hpp"

using namespace paddock;
using test::expect;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    contender said;
    said.path = "/before";
    detail::read_metadata(text, said);
    expect(said.path == "/before", "more was changed than the data can say", text);

    if (const auto permits = detail::read_permit_text(text))
        expect(detail::permit_text(*permits) == text, "another number", text);
    else
        expect(size != 4, "four bytes are a number", text);

    // A label may be any text; it is read back as it was written.
    contender written;
    detail::read_metadata(detail::metadata({}, "label").at({}), written);
    expect(written.label == "label", "not read back", written.label);
    return 0;
}
