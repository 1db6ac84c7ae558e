#pragma once

#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace paddock::test {

/// While it exists, keeps what is written to std::clog.
class captured_clog {
public:
    captured_clog() : before_(std::clog.rdbuf(written_.rdbuf())) {}
    ~captured_clog() { std::clog.rdbuf(before_); }
    captured_clog(const captured_clog&) = delete;
    captured_clog& operator=(const captured_clog&) = delete;

    std::string text() const { return written_.str(); }
    std::vector<std::string> lines() const {
        std::istringstream all(text());
        std::vector<std::string> found;
        for (std::string line; std::getline(all, line);)
            found.push_back(line);
        return found;
    }

private:
    std::ostringstream written_;
    std::streambuf* before_;
};

} // namespace paddock::test
