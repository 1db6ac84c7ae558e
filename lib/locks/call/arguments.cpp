#include "locks/call/arguments.hpp"

#include "rules/acl.hpp"
#include "rules/paths.hpp"
#include "rules/request_bytes.hpp"
#include "session/operations.hpp"
#include "support/argument.hpp"

#include <string>

namespace paddock::detail {

void check_path(std::string_view argument, std::string_view path) {
    if (const auto fault = rules::path_fault(path); !fault.empty())
        throw bad_argument(argument, path, fault);
    if (path == "/" || path == "/zookeeper" || path.starts_with("/zookeeper/"))
        throw bad_argument(argument, path, "is reserved by ZooKeeper");
    if (path.size() > longest_path) throw bad_argument(argument, "is longer than 512 bytes");
}

void check_acl(const core& client, std::string_view argument, const acl& entries) {
    if (const auto fault = rules::acl_fault(entries, has_credentials(client)); !fault.empty())
        throw bad_argument(argument, fault);
    if (rules::request_bytes({}, {}, entries) > longest_acl)
        throw bad_argument(argument, "is longer than 16 KiB");
}

void check_text(std::string_view argument, std::string_view text) {
    if (const auto fault = rules::utf8_fault(text); !fault.empty())
        throw bad_argument(argument, fault);
    if (text.size() > longest_text) throw bad_argument(argument, "is longer than 16 KiB");
}

void check_choices(std::string_view options, on_expiry expired, on_over_budget full) {
    check_enumerator(std::string(options) + "::on_expiry", expired, on_expiry::fail);
    check_enumerator(std::string(options) + "::on_over_budget", full, on_over_budget::fail);
}

void check_node(const core& client, std::string_view options, const acl& entries,
                std::string_view label) {
    check_acl(client, std::string(options) + "::acl", entries);
    check_text(std::string(options) + "::label", label);
}

} // namespace paddock::detail
