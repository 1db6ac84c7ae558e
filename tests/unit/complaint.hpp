#pragma once

#include <paddock/error.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <string>

// What the tests of arguments share.

namespace paddock::test {

/// The text of the bad_argument that the call throws.
inline std::string complaint(const std::function<void()>& call) {
    try {
        call();
    } catch (const system_error& error) {
        CHECK(error.code() == errc::bad_argument);
        return error.what();
    }
    return "no complaint";
}

inline bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

struct wrong {
    std::string value;
    std::string why;
};

} // namespace paddock::test
