#include "lock_tables.hpp"

#include "text.hpp"
#include "waiting_line.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <utility>

namespace cli {

namespace {

namespace json = boost::json;
using row = std::vector<std::string>;
using std::chrono::system_clock;

std::string or_dash(std::string text) { return text.empty() ? "-" : text; }

/// Other programs, and elections, say with their whole data who they are.
std::string label_of(const paddock::contender& one, lock_kind kind) {
    const bool data_is_text = one.label.empty() && one.host.empty() && kind != lock_kind::redis;
    auto text = printable(data_is_text ? one.data : one.label);
    constexpr std::size_t longest = 60;
    if (width(text) <= longest) return text;
    std::size_t bytes = 0;
    for (std::size_t characters = 0; characters < longest; ++bytes)
        if ((static_cast<unsigned char>(text[bytes + 1]) & 0xc0U) != 0x80) ++characters;
    return text.substr(0, bytes) + "…";
}

std::string with_age(system_clock::time_point since, system_clock::time_point now) {
    const auto text = iso_time(since);
    if (text.empty() || now < since) return text;
    return text + " (" + describe(now - since) + ')';
}

row to_row(const listed_contender& one, std::size_t place, lock_kind kind,
           system_clock::time_point now) {
    const auto& of = one.of;
    const std::string state = one.perhaps_waits ? "taken" : of.holder ? "holds" : "waits";
    return {std::to_string(place),
            one.id,
            state + (of.shared ? ", shared" : ""),
            or_dash(label_of(of, kind)),
            or_dash(printable(of.host)),
            of.pid == 0 ? "-" : std::to_string(of.pid),
            or_dash(with_age(of.since, now)),
            of.session == 0 ? "-" : hex(of.session),
            with_age(of.revoke_requested, now)};
}

std::string plural(std::size_t count, const std::string& verb) {
    return std::to_string(count) + ' ' + verb + (count == 1 ? "s" : "");
}

std::string keys_table(const lock_view& view) {
    const bool family = view.kind == lock_kind::family;
    std::string text = printable(view.path);
    if (view.path == "/") return text + ": no lock; give the path of one\n";
    if (view.keys.empty())
        return text + (family ? ": no key is in use\n"
                              : ": no lock, and no node with children below it\n");
    text += family ? ": keys in use\n" : ": no lock; nodes with children below it\n";
    std::vector<row> rows{{family ? "CONTENDERS" : "CHILDREN", family ? "KEY" : "NODE"}};
    for (const auto& one : view.keys) {
        const auto key = family ? one.key + (one.complete ? "" : "…") : one.path;
        rows.push_back({std::to_string(one.contenders), printable(key)});
    }
    return text + aligned(rows);
}

json::value or_null(std::string_view text) {
    if (text.empty()) return nullptr;
    return json::string(valid_utf8(text));
}

json::object to_json(const listed_contender& one, std::size_t place) {
    const auto& of = one.of;
    json::object out;
    out["place"] = place;
    out["id"] = one.id;
    out["holder"] = of.holder;
    out["shared"] = of.shared;
    out["label"] = or_null(of.label);
    out["host"] = or_null(of.host);
    out["pid"] = of.pid == 0 ? json::value() : json::value(of.pid);
    out["since"] = or_null(iso_time(of.since));
    out["session"] = of.session == 0 ? json::value() : or_null(hex(of.session));
    out["revoke_requested"] = or_null(iso_time(of.revoke_requested));
    out["token"] =
        of.token == paddock::fencing_token() ? json::value() : or_null(to_string(of.token));
    out["path"] = or_null(of.path);
    out["data"] = json::string(valid_utf8(of.data));
    if (one.left) out["left_ms"] = one.left->count();
    return out;
}

} // namespace

std::string to_table(const lock_view& view, system_clock::time_point now) {
    if (view.kind == lock_kind::family || view.kind == lock_kind::directory)
        return keys_table(view);
    std::string text = printable(view.path) + ": ";
    if (view.contenders.empty()) return text + "free\n";
    const bool on_redis = view.kind == lock_kind::redis;
    const auto holders = static_cast<std::size_t>(
        std::count_if(view.contenders.begin(), view.contenders.end(),
                      [](const listed_contender& one) { return one.of.holder; }));
    const auto waiters = view.contenders.size() - holders;
    text += (on_redis ? "a key on Redis" : name_of(view.kind)) + ", ";
    if (view.kind == lock_kind::semaphore)
        text += std::to_string(holders) + (holders == 1 ? " permit taken" : " permits taken");
    else
        text += plural(holders, "hold");
    if (waiters > 0) text += std::string(", ") + plural(waiters, "wait");
    text += '\n';
    std::vector<row> rows{
        {"PLACE", "ID", "STATE", "LABEL", "HOST", "PID", "SINCE", "SESSION", "ASKED TO RELEASE"}};
    for (const auto& one : view.contenders)
        rows.push_back(to_row(one, rows.size(), view.kind, now));
    const bool asked = std::any_of(rows.begin() + 1, rows.end(),
                                   [](const row& one) { return !one.back().empty(); });
    if (!asked) rows.front().pop_back();
    text += aligned(rows);
    return view.note.empty() ? text : text + '(' + view.note + ")\n";
}

std::string to_json(const lock_view& view) {
    json::object out;
    out["path"] = json::string(valid_utf8(view.path));
    out["kind"] = name_of(view.kind);
    out["note"] = or_null(view.note);
    json::array all;
    for (const auto& one : view.contenders)
        all.push_back(to_json(one, all.size() + 1));
    out["contenders"] = std::move(all);
    if (view.kind != lock_kind::family && view.kind != lock_kind::directory)
        return json::serialize(out) + '\n';
    json::array keys;
    for (const auto& one : view.keys) {
        json::object key;
        key["key"] = json::string(valid_utf8(one.key));
        key["complete"] = one.complete;
        key["path"] = json::string(valid_utf8(one.path));
        key["contenders"] = one.contenders;
        keys.push_back(std::move(key));
    }
    out["keys"] = std::move(keys);
    return json::serialize(out) + '\n';
}

} // namespace cli
