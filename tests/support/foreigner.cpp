#include "foreigner.hpp"

#include "foreigner_link.hpp"
#include "time_scale.hpp"

#include <algorithm>
#include <utility>

namespace paddock::test {

namespace {

using std::chrono::steady_clock;

jute_writer& operator<<(jute_writer& out, const std::vector<acl_entry>& acl) {
    out.int32(static_cast<std::int32_t>(acl.size()));
    for (const auto& entry : acl) {
        out.int32(entry.permissions).string(entry.scheme).string(entry.id);
    }
    return out;
}

node_stat read_stat(jute_reader& reader) {
    node_stat result;
    result.czxid = reader.int64();
    result.mzxid = reader.int64();
    result.ctime = reader.int64();
    result.mtime = reader.int64();
    result.version = reader.int32();
    result.cversion = reader.int32();
    result.aversion = reader.int32();
    result.ephemeral_owner = reader.int64();
    result.data_length = reader.int32();
    result.num_children = reader.int32();
    result.pzxid = reader.int64();
    return result;
}

jute_writer about(const std::string& path) {
    jute_writer body;
    body.string(path);
    return body;
}

std::int32_t create_opcode(node_mode mode) {
    switch (mode) {
    case node_mode::container:
        return opcode::create_container;
    case node_mode::persistent_ttl:
    case node_mode::persistent_sequential_ttl:
        return opcode::create_ttl;
    default:
        return opcode::create;
    }
}

// Calls the function; false if it fails with this code.
template <class Function>
bool unless(int code, Function function) {
    try {
        function();
        return true;
    } catch (const zk_failure& failure) {
        if (failure.code() != code) {
            throw;
        }
        return false;
    }
}

} // namespace

zk_failure::zk_failure(int code, const std::string& doing)
    : std::runtime_error("foreigner: " + doing + " ended with code " + std::to_string(code))
    , code_(code) {}

foreigner::foreigner(const std::string& address, const foreigner_options& options)
    : link_(std::make_unique<link>(address, options)) {}

foreigner::foreigner(foreigner&&) noexcept = default;
foreigner& foreigner::operator=(foreigner&& other) noexcept {
    std::swap(link_, other.link_);
    return *this;
}

foreigner::~foreigner() {
    if (!link_ || !link_->frames.is_open()) {
        return;
    }
    try {
        link_->options.deadline = std::chrono::seconds(1); // the server may be gone
        close();
    } catch (const zk_failure&) {
        // Then the session ends by its timeout.
    }
}

std::string foreigner::create(const std::string& path, const std::string& data, node_mode mode,
                              const std::vector<acl_entry>& acl, std::chrono::milliseconds ttl) {
    const std::int32_t operation = create_opcode(mode);
    jute_writer body = about(path);
    body.string(data) << acl;
    body.int32(static_cast<std::int32_t>(mode));
    if (operation == opcode::create_ttl) {
        body.int64(ttl.count());
    }
    const auto reply = link_->call(operation, body, "create " + path);
    return jute_reader(reply).string();
}

void foreigner::remove(const std::string& path, std::int32_t version) {
    link_->call(opcode::remove, about(path).int32(version), "remove " + path);
}

bool foreigner::exists(const std::string& path) { return stat(path).has_value(); }

std::optional<node_stat> foreigner::stat(const std::string& path) {
    std::optional<node_stat> result;
    unless(zk_code::no_node, [&] {
        const auto reply =
            link_->call(opcode::exists, about(path).boolean(false), "exists " + path);
        jute_reader reader(reply);
        result = read_stat(reader);
    });
    return result;
}

node foreigner::get(const std::string& path) {
    const auto reply = link_->call(opcode::get, about(path).boolean(false), "get " + path);
    jute_reader reader(reply);
    node result;
    result.data = reader.string();
    result.stat = read_stat(reader);
    return result;
}

node_stat foreigner::set(const std::string& path, const std::string& data, std::int32_t version) {
    const auto reply =
        link_->call(opcode::set, about(path).string(data).int32(version), "set " + path);
    jute_reader reader(reply);
    return read_stat(reader);
}

std::vector<std::string> foreigner::children(const std::string& path) {
    const auto reply =
        link_->call(opcode::children, about(path).boolean(false), "children " + path);
    jute_reader reader(reply);
    std::vector<std::string> names(static_cast<std::size_t>(reader.int32()));
    for (auto& name : names) {
        name = reader.string();
    }
    std::sort(names.begin(), names.end());
    return names;
}

void foreigner::set_acl(const std::string& path, const std::vector<acl_entry>& acl) {
    jute_writer body = about(path);
    body << acl;
    link_->call(opcode::set_acl, body.int32(-1), "set_acl " + path);
}

void foreigner::add_auth(const std::string& user_and_password) {
    jute_writer body;
    body.int32(0).string("digest").string(user_and_password);
    link_->call(special_xid::auth, opcode::auth, body, "add_auth");
}

void foreigner::sync(const std::string& path) {
    link_->call(opcode::sync, about(path), "sync " + path);
}

void foreigner::ping() { link_->call(special_xid::ping, opcode::ping, {}, "ping"); }

void foreigner::make_path(const std::string& path) {
    for (std::size_t end = 0; end != std::string::npos;) {
        end = path.find('/', end + 1);
        unless(zk_code::node_exists, [&] { create(path.substr(0, end)); });
    }
}

void foreigner::remove_all(const std::string& path) {
    unless(zk_code::no_node, [&] {
        for (const auto& name : children(path)) {
            remove_all(path + "/" + name);
        }
        remove(path);
    });
}

bool foreigner::wait_gone(const std::string& path, std::chrono::milliseconds limit) {
    const auto until = steady_clock::now() + scaled(limit);
    const auto body = about(path).boolean(true);
    return unless(zk_code::operation_timeout, [&] {
        const auto look = [&] { link_->call(opcode::exists, body, "wait_gone " + path); };
        while (unless(zk_code::no_node, look)) {
            while (!link_->receive_event(path, until)) {
            }
        }
    });
}

std::int64_t foreigner::session_id() const { return link_->session.session_id; }

credentials foreigner::session() const { return link_->session; }

void foreigner::close() {
    link_->call(opcode::close_session, {}, "close");
    link_->frames.drop();
}

void foreigner::abandon() { link_->frames.drop(); }

void kill_session(const std::string& address, const credentials& session) {
    const auto deadline = steady_clock::now() + scaled(std::chrono::seconds(10));
    jute_writer close_request;
    close_request.int32(1).int32(opcode::close_session);
    auto bytes = connect_request(session).frame();
    // Both at once: the session's own client, which this connection has pushed out, reconnects and
    // pushes it out in turn.
    const auto unlock_call = close_request.frame();
    bytes.insert(bytes.end(), unlock_call.begin(), unlock_call.end());
    for (;;) {
        try {
            frame_link frames(address, deadline);
            frames.send(bytes, deadline);
            if (read_credentials(jute_reader(frames.receive(deadline))).session_id == 0) {
                return;
            }
            frames.receive(deadline);
        } catch (const zk_failure& failure) {
            if (failure.code() != zk_code::connection_loss) {
                throw;
            }
            if (steady_clock::now() > deadline) {
                throw;
            }
        }
    }
}

} // namespace paddock::test
