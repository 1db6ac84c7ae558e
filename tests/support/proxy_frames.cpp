#include "proxy_frames.hpp"

#include "time_scale.hpp"

#include <algorithm>
#include <utility>

namespace paddock::test {

namespace {

bool begins_with_path(std::int32_t operation) {
    switch (operation) {
    case opcode::create:
    case opcode::remove:
    case opcode::exists:
    case opcode::get:
    case opcode::set:
    case opcode::get_acl:
    case opcode::set_acl:
    case opcode::children:
    case opcode::sync:
    case opcode::children2:
    case opcode::create2:
    case opcode::check_watches:
    case opcode::remove_watches:
    case opcode::create_container:
    case opcode::create_ttl:
    case opcode::add_watch:
        return true;
    default:
        return false;
    }
}

} // namespace

frame frame_reader::unread(direction way, std::span<const std::uint8_t> bytes) const {
    frame result;
    result.way = way;
    result.size = bytes.size();
    result.connection = connection_;
    result.when = std::chrono::steady_clock::now();
    return result;
}

frame frame_reader::read(direction way, std::span<const std::uint8_t> bytes) {
    auto result = unread(way, bytes);
    jute_reader reader(bytes.subspan(4));
    if (!std::exchange(handshake_seen_[static_cast<int>(way)], true)) {
        result.opcode = opcode::create_session;
        if (way == direction::down) {
            session_ = read_credentials(reader);
        }
    } else if (way == direction::up) {
        read_request(result, reader);
    } else {
        read_reply(result, reader);
    }
    return result;
}

void frame_reader::read_request(frame& result, jute_reader& reader) {
    result.xid = reader.int32();
    result.opcode = reader.int32();
    if (begins_with_path(result.opcode)) {
        result.path = reader.string();
    }
    const bool reads = result.opcode == opcode::exists || result.opcode == opcode::sync;
    if (result.opcode == opcode::multi) {
        const auto first_step = reader.int32();
        reader.boolean(); // done
        reader.int32();   // error
        result.path = reader.string();
        result.heartbeat = first_step == opcode::check && result.path == "/zookeeper";
    } else if (reads) {
        result.heartbeat = result.path == "/zookeeper";
    }
    requests_[result.xid] = {result.opcode, result.path, result.heartbeat};
}

void frame_reader::read_reply(frame& result, jute_reader& reader) {
    result.xid = reader.int32();
    result.zxid = reader.int64();
    result.error = reader.int32();
    if (result.xid == special_xid::notification) {
        reader.int32(); // type
        reader.int32(); // state
        result.path = reader.string();
    } else if (const auto found = requests_.find(result.xid); found != requests_.end()) {
        result.opcode = found->second.opcode;
        result.path = found->second.path;
        result.heartbeat = found->second.heartbeat;
        if (result.xid > 0) {
            requests_.erase(found);
        }
    }
}

std::size_t frame_journal::add(frame seen) {
    const std::lock_guard lock(mutex_);
    now_.frames.push_back(std::move(seen));
    changed_.notify_all();
    return forgotten_ + now_.frames.size() - 1;
}

void frame_journal::forwarded(std::size_t entry, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (entry < forgotten_) {
        return;
    }
    now_.frames[entry - forgotten_].forwarded = bytes;
    changed_.notify_all();
}

void frame_journal::accepted() {
    const std::lock_guard lock(mutex_);
    ++now_.accepted;
    ++now_.open;
    changed_.notify_all();
}

void frame_journal::closed() {
    const std::lock_guard lock(mutex_);
    --now_.open;
    changed_.notify_all();
}

void frame_journal::cut() {
    const std::lock_guard lock(mutex_);
    ++now_.cuts;
    changed_.notify_all();
}

void frame_journal::session(const credentials& granted) {
    const std::lock_guard lock(mutex_);
    credentials_ = granted;
}

void frame_journal::forget_frames() {
    const std::lock_guard lock(mutex_);
    forgotten_ += now_.frames.size();
    now_.frames.clear();
}

credentials frame_journal::last_credentials() const {
    const std::lock_guard lock(mutex_);
    return credentials_;
}

bool frame_journal::wait_for(const std::function<bool(const proxy_snapshot&)>& predicate,
                             std::chrono::milliseconds limit) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, scaled(limit), [&] { return predicate(now_); });
}

std::size_t proxy_snapshot::count_if(const std::function<bool(const frame&)>& wanted) const {
    return static_cast<std::size_t>(std::count_if(frames.begin(), frames.end(), wanted));
}

std::size_t proxy_snapshot::count(direction way) const {
    return count_if([&](const frame& one) { return one.way == way && one.counts(); });
}

std::size_t proxy_snapshot::count(direction way, std::int32_t operation) const {
    return count_if([&](const frame& one) {
        return one.way == way && one.opcode == operation && !one.heartbeat;
    });
}

} // namespace paddock::test
