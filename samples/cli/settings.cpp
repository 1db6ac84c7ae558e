#include "settings.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <map>

namespace cli {

milliseconds read_time(const std::string& text) {
    static const std::map<std::string, double> units{{"ms", 1},     {"", 1e3},     {"s", 1e3},
                                                     {"m", 60e3},   {"min", 60e3}, {"h", 3600e3},
                                                     {"d", 86400e3}};
    double number = -1;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    const auto unit = units.find(std::string(read.ptr, text.data() + text.size() - read.ptr));
    constexpr double longest = 10 * 365 * 86400e3;
    if (read.ec != std::errc() || unit == units.end() || !(number >= 0) ||
        number * unit->second > longest)
        throw CLI::ValidationError(text + " is no time; 250ms, 10s, 5m, 2h and 1d are");
    return milliseconds(std::llround(number * unit->second));
}

CLI::Option* add_time(CLI::App& app, const std::string& name, std::optional<milliseconds>& into,
                      const std::string& text) {
    const auto read = [&into](const std::string& value) { into = read_time(value); };
    return app.add_option_function<std::string>(name, read, text)->type_name("TIME");
}

CLI::Option* add_time(CLI::App& app, const std::string& name, milliseconds& into,
                      const std::string& text) {
    const auto read = [&into](const std::string& value) { into = read_time(value); };
    return app.add_option_function<std::string>(name, read, text)->type_name("TIME");
}

CLI::Validator not_empty() {
    return {[](const std::string& value) { return value.empty() ? "must not be empty" : ""; }, ""};
}

void add_servers(CLI::App& app, server_options& into) {
    const auto group = "Servers";
    app.add_option("--servers", into.servers,
                   "zk://host:port,…[/root], redis://host:port,…, rediss://host:port,… (with TLS), "
                   "or host:port,… of ZooKeeper.")
        ->envname("PADDOCK_SERVERS")
        ->type_name("URL")
        ->group(group);
    app.add_option("--auth-file", into.auth_file,
                   "a file with lines user:password; the servers get them")
        ->type_name("FILE")
        ->group(group);
    const auto tls = [&](const std::string& name, const std::string& variable, std::string& value,
                         const std::string& text) {
        const auto in_environment = "PADDOCK_TLS_" + variable;
        const auto* const given_there = std::getenv(in_environment.c_str());
        // CLI11 takes it for one that is not set.
        if (given_there != nullptr && *given_there == '\0') into.empty_variable = in_environment;
        return app.add_option(name, value, "TLS: " + text)
            ->envname(in_environment)
            ->check(not_empty()) // it must not stand for a plain connection
            ->type_name("FILE")
            ->group(group);
    };
    tls("--tls-ca", "CA", into.tls_files.ca,
        "the authorities that may vouch for the servers, a PEM file, as are the next three (those "
        "that the system trusts)");
    tls("--tls-cert", "CERT", into.tls_files.certificate,
        "this client's own certificate, and behind it those of the authorities between");
    tls("--tls-key", "KEY", into.tls_files.key, "its key, if that is not in the same file");
    tls("--tls-crl", "CRL", into.tls_files.crl, "lists of revoked certificates");
    tls("--tls-name", "NAME", into.tls_name,
        "the name in the servers' certificates (their host). With one of these five options "
        "connections to ZooKeeper are encrypted; files that change are read again")
        ->type_name("NAME");
    add_time(app, "--session-timeout", into.session_timeout,
             "how long a lock stays when its holder has died (10s)")
        ->group(group);
    add_time(app, "--connect-timeout", into.connect_timeout,
             "how long to try to reach a server (15s)")
        ->group(group);
    app.add_flag("--create-root", into.create_root,
                 "create the root of zk://…/root if it is missing")
        ->group(group);
    app.add_flag("--new-servers", into.new_servers,
                 "Redis: the servers were just set up, and hold no locks that they have forgotten; "
                 "only for "
                 "whoever connects first")
        ->group(group);
    app.add_flag("-q,--quiet", into.quiet, "no place in the queue, no warnings: only errors")
        ->group(group);
}

void add_command(CLI::App& app, command_options& into) {
    add_servers(app, into.servers);
    app.add_flag("--try", into.only_try, "do not wait for the lock");
    add_time(app, "--timeout", into.timeout, "wait for at most so long, then exit with 124");
    app.add_flag("--no-fail", into.no_fail, "exit with 0 if the lock is not granted");
    app.add_option("--label", into.lock.label, "text that others see of this one")
        ->type_name("TEXT");
    add_time(app, "--at-most", into.at_most, "end the command after so long, and exit with 123");
    add_time(app, "--at-least", into.at_least, "hold the lock for at least so long");
    add_time(
        app, "--margin", into.margin,
        "when the lock is being lost, the time between SIGTERM and SIGKILL (15 % of the session "
        "timeout)");
    app.add_option("--on-lost", into.on_lost, "run once by the shell when the lock is lost")
        ->type_name("COMMAND");
}

void check(const command_options& how) {
    if (how.command.empty())
        throw usage_error("a command is missing: paddock … -- COMMAND…; a script: -- sh -c '…'");
    if (how.only_try && how.timeout) throw usage_error("--try does not go with --timeout");
    if (how.no_fail && !how.only_try && !how.timeout)
        throw usage_error("--no-fail is for --try and --timeout: without them it waits");
    if (how.at_most && how.at_most->count() == 0)
        throw usage_error("--at-most 0 leaves no time; without it there is no limit");
    if (how.at_most && how.at_least && *how.at_least > *how.at_most)
        throw usage_error("--at-least is longer than --at-most");
    if (how.margin && *how.margin > how.servers.session_timeout / 5)
        throw usage_error("--margin is longer than a fifth of --session-timeout");
}

void add_lock_kinds(CLI::App& app, command_options& into) {
    const auto group = "Kinds of locks";
    app.add_flag("--shared", into.lock.shared,
                 "as a reader: shared with others, not with --exclusive")
        ->group(group);
    app.add_flag("--exclusive", into.lock.exclusive,
                 "as a writer, where others take --shared; a lock without both is of another kind")
        ->group(group);
    app.add_option("--semaphore", into.lock.permits, "one of N permits")
        ->type_name("N")
        ->check(CLI::Range(1, 1'000'000))
        ->group(group);
    app.add_flag("--all", into.lock.all, "all locks PATH…, in one order for all programs")
        ->group(group);
    app.add_option("--key", into.lock.key, "the lock of a key of a family, instead of PATH")
        ->type_name("FAMILY KEY")
        ->expected(2)
        ->group(group);
    app.add_option("PATH", into.lock.paths, "the lock, such as /locks/nightly");
}

} // namespace cli
