// What a user of the installed library compiles; see check_install.sh.

#include <paddock/paddock.hpp>

#include <cstdio>

int main() {
    const paddock::error_code error = paddock::errc::closed;
    std::printf("%s: %s\n", error.category().name(), error.message().c_str());
    return error.message().empty() ? 1 : 0;
}
