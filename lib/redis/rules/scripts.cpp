#include "redis/rules/scripts.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

namespace paddock::redis::rules {

namespace {

using std::chrono::milliseconds;

/// Numbers are printed with %.0f: Lua's `..` has 14 digits. (redis.call prints 17.) Only `young`
/// may be above zero when what follows runs; a replica and another deployment end here. A master
/// has a new master_replid after each start, after it was a replica (which second_repl_offset
/// shows), and when its first replica comes or its last one has long been gone (Redis'
/// src/replication.c: changeReplicationId, shiftReplicationId): only then it has lost nothing.
/// After repl-backlog-ttl, an hour unless it is set, second_repl_offset shows no more what the
/// server was: a longer max_ttl does not rely on it. A server that is told to evict keys while
/// clients are connected counts what it has evicted, until CONFIG RESETSTAT, and SWAPDB brings
/// another database's marker, until the second SWAPDB. INFO's section with that count is slow. It
/// is left out where the counter ends with a space: the last key that a client of this library set
/// was released here, and so was not evicted. Another program's key may have been.
/// A counter of tokens stays until the clock has reached it, for the longest holds, and for a day
/// as a margin: after that the clock alone gives larger tokens. Of the holder's value 128 bytes are
/// more than this library writes.
constexpr std::string_view check_server = R"(
local function digits(n) return string.format('%.0f', n) end
local info = redis.call('INFO', 'replication')
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local clock = digits(now)
if not string.find(info, 'role:master', 1, true) then return {'replica', clock} end
local ttl, longest, servers, place = ARGV[2], ARGV[3], ARGV[4], ARGV[6]
local marker = redis.call('HMGET', KEYS[3], 'id', 'since', 'max_ttl', 'servers', 'place', 'evicted')
if marker[1] and (marker[3] ~= longest or marker[4] ~= servers) then
  return {'mismatch', clock, marker[3] or '', marker[4] or ''}
end
local function evictions()
  local stats = redis.call('INFO', 'stats')
  local _, at = string.find(stats, 'evicted_keys:', 1, true)
  return at and string.match(stats, '^%d+', at + 1) or ''
end
local counter = redis.call('GET', KEYS[2]) or '0'
local released = string.sub(counter, -1) == ' '
local evicted = released and marker[6] or evictions()
local since = tonumber(marker[2] or '')
local here = marker[1] and marker[5] == place and marker[6] == evicted
local same = here and string.find(info, 'master_replid:' .. marker[1] .. '\r', 1, true)
if not same or not since or since > now then
  local id = string.match(info, 'master_replid:(%x+)')
  local run = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
  evicted = evictions()
  local was = here and marker[6] == evicted and redis.call('HMGET', KEYS[3], 'run')[1]
  local kept = was == run and tonumber(longest) <= 3600000
    and string.find(info, 'second_repl_offset:-1', 1, true)
  if not kept or not since or since > now then since = now end
  if ARGV[5] == '1' and not marker[1] then since = now - longest * 1000 end
  redis.call('HSET', KEYS[3], 'id', id, 'since', digits(since), 'max_ttl', longest, 'servers', servers,
    'place', place, 'evicted', evicted, 'run', run)
end
local young = math.max(0, math.ceil((since + longest * 1000 - now) / 1000))
local last = tonumber(counter)
if not last or not (last >= 0 and last < 9007199254740000) then
  return redis.error_reply('WRONGTYPE the counter of fencing tokens is not a number: ' .. KEYS[2])
end
local function count(token)
  local behind = math.ceil(math.max(0, token - now) / 1000)
  local text = token == now and clock or digits(token)
  local set = redis.pcall('SET', KEYS[2], text, 'PX', behind + 86400000 + 2 * longest)
  return text, set.err and set
end
local function taken(holder)
  if type(holder) ~= 'string' then holder = '' end
  local left = redis.call('PTTL', KEYS[1])
  local own = tonumber(string.match(holder, '^pdk1:(%d+):') or '')
  if own and own > 0 and own <= tonumber(longest) and (left == -1 or left > own) then
    redis.call('PEXPIRE', KEYS[1], digits(own))
    left = own
  end
  return {'taken', clock, digits(left), string.sub(holder, 1, 128)}
end
)";

constexpr std::string_view acquire = R"(
if young > 0 then return {'young', clock, digits(young)} end
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ttl) then
  return taken(redis.pcall('GET', KEYS[1]))
end
local token, wrong = count(math.max(last + 1, now))
if wrong then
  redis.call('DEL', KEYS[1])
  return wrong
end
return {'granted', clock, token}
)";

constexpr std::string_view renew = R"(
local holder = redis.pcall('GET', KEYS[1])
local done = 'renewed'
if holder == ARGV[1] then
  redis.call('PEXPIRE', KEYS[1], ttl)
elseif holder == false then
  redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ttl)
  done = 'set'
else
  return taken(holder)
end
local token = tonumber(ARGV[7])
if token > last or (done == 'set' and released) then
  local _, wrong = count(math.max(token, last))
  if wrong then return wrong end
end
return {done, clock, digits(young)}
)";

/// A hold that was kicked is not renewed, and its keys go with its release as others do. A counter
/// that is gone stays so. The space can be missing: then the next script is slower. Who
/// waits is told as well if the key has expired, or was deleted, and nobody has the lock yet.
constexpr std::string_view release = R"(
local holder = redis.pcall('GET', KEYS[1])
local done = 'gone'
local kicked = string.gsub(ARGV[1], '^pdk1:%d+:', '%0kicked:')
if holder == ARGV[1] or holder == kicked then
  redis.call('DEL', KEYS[1])
  if redis.pcall('APPEND', KEYS[2], ' ') == 1 then redis.call('DEL', KEYS[2]) end
  done = 'released'
elseif holder then
  return {'gone'}
end
local told = ARGV[2] ~= '' and redis.pcall('PUBLISH', ARGV[2], ARGV[1])
if type(told) == 'table' then return {done, told.err} end
return {done, '', tostring(told or 0)}
)";

/// The key may be of another type.
constexpr std::string_view look = R"(
local holder = redis.pcall('GET', KEYS[1])
if not holder then return {'free'} end
local left = redis.call('PTTL', KEYS[1])
if type(holder) ~= 'string' then holder = '' end
return {'held', '', string.format('%.0f', left), string.sub(holder, 1, 4096)}
)";

/// The holder of another library does not set a missing key again. The mark lasts for a whole time
/// to live: a holder that missed it on other servers sets an expired key again, and by then it has
/// lost the hold.
constexpr std::string_view kick = R"(
local holder = redis.pcall('GET', KEYS[1])
local kicked, ours = string.gsub(ARGV[1], '^pdk1:%d+:', '%0kicked:')
if ours == 1 and holder == kicked then return {'kicked'} end
if holder ~= ARGV[1] then return {'gone'} end
if ours == 1 then
  local own = math.max(1, math.min(tonumber(string.match(ARGV[1], '^pdk1:(%d+):')), 86400000))
  local left = redis.call('PTTL', KEYS[1])
  redis.call('SET', KEYS[1], kicked, 'PX', string.format('%.0f', math.max(left, own)))
else
  redis.call('DEL', KEYS[1])
  redis.pcall('PUBLISH', ARGV[2], ARGV[1])
end
return {'kicked'}
)";

constexpr std::string_view marker = "paddock:server";
constexpr std::string_view token_prefix = "paddock:token:";
constexpr std::string_view channel_prefix = "paddock:free:";
constexpr std::string_view value_prefix = "pdk1:";

std::string digits(milliseconds time) { return std::to_string(time.count()); }

/// Before Redis 7, the name of an error in a script stands in the middle of its text; missing
/// rights to a command have no name there. A connection says itself that AUTH is refused, which has
/// no name of its own in every version, either. The first one quotes any name.
constexpr std::array<std::pair<std::string_view, answer::kind>, 7> names_of_errors{{
    {"WRONGTYPE the counter", answer::kind::spoilt},
    {"NOAUTH", answer::kind::denied},
    {"WRONGPASS", answer::kind::denied},
    {"NOPERM", answer::kind::denied},
    {"refuses AUTH", answer::kind::denied},
    {"The user executing the script can't", answer::kind::denied},
    {"WRONGTYPE", answer::kind::spoilt},
}};

constexpr std::string_view unknown_script = "NOSCRIPT";

/// The others, which begin a text.
constexpr std::array<std::string_view, 9> states{
    "LOADING", "BUSY",    "MASTERDOWN", "TRYAGAIN",  "ERR max number of clients",
    "OOM",     "MISCONF", "READONLY",   "NOREPLICAS"};

const auto* find_name(std::string_view text) noexcept {
    return std::find_if(names_of_errors.begin(), names_of_errors.end(),
                        [&](const auto& one) { return text.find(one.first) != text.npos; });
}

answer::kind kind_of_error(std::string_view text) noexcept {
    if (text.starts_with(unknown_script)) return answer::kind::unknown_script;
    const auto* const found = find_name(text);
    return found == names_of_errors.end() ? answer::kind::refused : found->second;
}

constexpr std::array<std::pair<std::string_view, answer::kind>, 12> words{{
    {"granted", answer::kind::granted},
    {"renewed", answer::kind::renewed},
    {"set", answer::kind::set},
    {"taken", answer::kind::taken},
    {"young", answer::kind::young},
    {"released", answer::kind::released},
    {"gone", answer::kind::gone},
    {"held", answer::kind::held},
    {"free", answer::kind::free},
    {"kicked", answer::kind::kicked},
    {"replica", answer::kind::replica},
    {"mismatch", answer::kind::mismatch},
}};

/// Up to here Lua counts exactly, and so many microseconds fit into a duration of nanoseconds.
constexpr std::int64_t largest = 9'007'199'254'740'992;
constexpr milliseconds longest =
    std::chrono::duration_cast<milliseconds>(std::chrono::microseconds(largest));

/// Every item of a script's reply is a string.
std::optional<std::int64_t> number_in(const reply& said, std::size_t n, std::int64_t least) {
    if (n >= said.items.size()) return {};
    const auto& text = said.items[n].text;
    std::int64_t out = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (fault != std::errc() || end != text.data() + text.size()) return {};
    if (out < least || out > largest) return {};
    return out;
}

std::string text_in(const reply& said, std::size_t n) {
    return n < said.items.size() ? said.items[n].text : std::string();
}

/// For the log: another program may have written anything.
std::string terms_in_marker(const std::string& max_ttl, const std::string& servers) {
    const auto shown = [](const std::string& text) {
        constexpr std::size_t longest_number = 19; // of 64 bits
        const bool is_number = text.find_first_not_of("0123456789") == text.npos;
        return is_number && !text.empty() && text.size() <= longest_number ? text : "?";
    };
    return "max_ttl " + shown(max_ttl) + " ms, servers " + shown(servers);
}

/// What stands behind the word. False: it is not complete.
bool read_details(const reply& said, answer& out) {
    using kind = answer::kind;
    switch (out.what) {
    case kind::released:
    case kind::gone:
        out.text = text_in(said, 1);
        out.listeners = number_in(said, 2, 0).value_or(0);
        return true;
    case kind::free:
    case kind::kicked:
        return true;
    case kind::held: {
        const auto left = number_in(said, 2, -2);
        out.left = std::min(milliseconds(left.value_or(0)), longest);
        out.holder = text_in(said, 3);
        return left.has_value();
    }
    case kind::mismatch:
        out.text = terms_in_marker(text_in(said, 2), text_in(said, 3));
        break;
    case kind::granted: {
        const auto token = number_in(said, 2, 1);
        if (!token) return false;
        out.token = *token;
        break;
    }
    case kind::renewed:
    case kind::set:
    case kind::taken:
    case kind::young: {
        const auto left = number_in(said, 2, out.what == kind::taken ? -2 : 0);
        if (!left) return false;
        out.left = std::min(milliseconds(*left), longest);
        out.holder = text_in(said, 3);
        break;
    }
    default:
        break;
    }
    const auto clock = number_in(said, 1, 1);
    if (clock) out.clock = std::chrono::microseconds(*clock);
    return clock.has_value();
}

} // namespace

lock_keys::lock_keys(std::string_view lock_name)
    : name(lock_name)
    , counter(std::string(token_prefix).append(lock_name))
    , channel(std::string(channel_prefix).append(lock_name)) {}

std::string lock_name_of(std::string_view channel) {
    return std::string(channel.substr(std::min(channel.size(), channel_prefix.size())));
}

std::string lock_value(milliseconds ttl, std::string_view random, std::string_view description) {
    auto value = std::string(value_prefix).append(digits(ttl)).append(":").append(random);
    if (!description.empty()) value.append(":").append(description);
    return value;
}

bool is_lock_value(std::string_view value) noexcept { return value.starts_with(value_prefix); }

const std::string& text_of(script which) {
    static const std::array<std::string, script_count> all{
        std::string(check_server).append(acquire), std::string(check_server).append(renew),
        std::string(release), std::string(look), std::string(kick)};
    return all.at(static_cast<std::size_t>(which));
}

call_words acquire_words(const lock_keys& keys, std::string_view value, milliseconds ttl,
                         const deployment& all) {
    return {"3",
            keys.name,
            keys.counter,
            std::string(marker),
            std::string(value),
            digits(ttl),
            digits(all.max_ttl),
            std::to_string(all.servers),
            all.trusts_new_servers ? "1" : "0",
            std::to_string(all.database)};
}

call_words renew_words(const lock_keys& keys, std::string_view value, milliseconds ttl,
                       const deployment& all, std::int64_t token) {
    auto words = acquire_words(keys, value, ttl, all);
    words.push_back(std::to_string(token));
    return words;
}

call_words release_words(const lock_keys& keys, std::string_view value, bool tells) {
    return {"2", keys.name, keys.counter, std::string(value), tells ? keys.channel : std::string()};
}

call_words look_words(const lock_keys& keys) { return {"1", keys.name}; }

call_words kick_words(const lock_keys& keys, std::string_view value) {
    return {"1", keys.name, std::string(value), keys.channel};
}

const std::vector<std::string>& marker_command() {
    static const std::vector<std::string> command{"HMGET", std::string(marker), "id", "max_ttl",
                                                  "servers"};
    return command;
}

std::optional<answer> mismatch_in(const reply& marker, const deployment& all) {
    if (text_in(marker, 0).empty()) return {}; // as in the scripts
    const auto max_ttl = text_in(marker, 1);
    const auto servers = text_in(marker, 2);
    if (max_ttl == digits(all.max_ttl) && servers == std::to_string(all.servers)) return {};
    answer out;
    out.what = answer::kind::mismatch;
    out.text = terms_in_marker(max_ttl, servers);
    return out;
}

std::string_view name_of_error(std::string_view text) noexcept {
    if (text.starts_with(unknown_script)) return unknown_script;
    if (const auto* found = find_name(text); found != names_of_errors.end()) return found->first;
    const auto* const state = std::find_if(states.begin(), states.end(),
                                           [&](auto each) { return text.starts_with(each); });
    return state == states.end() ? "ERR" : *state;
}

answer read_answer(const reply& said) {
    answer out;
    if (said.is_error()) {
        out.what = kind_of_error(said.text);
        out.text = said.text;
        return out;
    }
    const auto word = text_in(said, 0);
    const auto* const found = std::find_if(words.begin(), words.end(),
                                           [&](const auto& one) { return one.first == word; });
    if (found != words.end()) {
        out.what = found->second;
        if (read_details(said, out)) return out;
        out = {};
    }
    out.text = "an unexpected reply";
    return out;
}

} // namespace paddock::redis::rules
