// What the log says of the C client's own lines.

#include "native/c_error_line.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace paddock;

TEST_CASE("what the C client reports is said in words that say what has happened") {
    using native::explained;
    const auto* const closed =
        "Socket 10.0.0.1:2181 zk retcode=-4, errno=112(Host is down): failed "
        "while receiving a server response";
    CHECK(explained(closed, false)
              .starts_with("10.0.0.1:2181 closed the connection: the server is starting or"));
    CHECK(explained(closed, true)
              .starts_with("10.0.0.1:2181 closed the connection: the server is stopping, "));
    CHECK(explained("Socket [::1]:2181 zk retcode=-4, errno=111(Connection refused): server "
                    "refused to accept the client",
                    false) == "[::1]:2181 refuses connections: no server listens there");
    CHECK(explained("Unable to allocate memory", true)
              .starts_with("ZooKeeper's C client says: Unable "));
    CHECK(explained("", false).starts_with("ZooKeeper's C client says: "));
}
