#include "locks/check.hpp"

#include "rules/paths.hpp"
#include "support/argument.hpp"

namespace paddock::detail {

void check_lock_path(const std::string& what, std::string_view path) {
    constexpr std::size_t longest = 512; // a node's path must stay far below 1 MiB
    if (const auto fault = rules::path_fault(path); !fault.empty())
        throw bad_argument(what, path, fault);
    if (path == "/" || path == "/zookeeper" || path.starts_with("/zookeeper/"))
        throw bad_argument(what, path, "is reserved by ZooKeeper");
    if (path.size() > longest) throw bad_argument(what, "is longer than 512 bytes");
}

void check_acl(const std::string& what, const acl& entries) {
    if (entries.empty()) throw bad_argument(what, "is empty");
}

void check_text(const std::string& what, std::string_view text) {
    if (const auto fault = rules::utf8_fault(text); !fault.empty()) throw bad_argument(what, fault);
    if (text.size() > 16 * 1024) throw bad_argument(what, "is longer than 16 KiB");
}

} // namespace paddock::detail
