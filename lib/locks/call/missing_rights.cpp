#include "locks/call/missing_rights.hpp"

#include "session/core.hpp"

namespace paddock::detail {

namespace {

/// As whom the client has authenticated.
std::string identities(const core& client) {
    std::string users;
    for (const auto& one : client.options().auth)
        users += (users.empty() ? "digest:" : ", digest:") + one.user;
    return users.empty() ? "no credentials (client_options::auth)"
                         : "the credentials " + users +
                               " (of which ZooKeeper accepts any password, also a wrong one)";
}

} // namespace

std::string rights_in(std::string_view directories) {
    return "CREATE, DELETE and READ in " + std::string(directories);
}

void tell_missing_rights(core& client, const std::string& path, std::string_view rights) {
    client.trouble(log_code::not_permitted,
                   "the ensemble does not authorise this client to use the lock " + path +
                       ": it needs " + std::string(rights) +
                       " (CREATE in the directory above, if that is missing), and has " +
                       identities(client) + ". Compare the access control lists, in zkCli: getAcl",
                   path);
}

} // namespace paddock::detail
