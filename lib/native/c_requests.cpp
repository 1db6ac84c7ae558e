#include "native/c_client.hpp"
#include "native/c_convert.hpp"
#include "native/c_lock.hpp"
#include "native/c_replies.hpp"

namespace paddock::native {

template <typename Call>
int c_client::request(const std::string& path, done& reply_to, Call call) {
    if (!may_send()) return ZINVALIDSTATE;
    if (!is_c_string(path) || !has_c_length(path)) return ZBADARGUMENTS;
    cork();
    const inside_c lock(c_client_mutex, &errors_);
    const int rc = call(path.c_str(), reply_to.get());
    // From now on the C client owns it, until it calls one of native::replies.
    if (rc == ZOK) static_cast<void>(reply_to.release());
    return rc;
}

int c_client::add_auth(const std::string& scheme, const std::string& credentials, done reply_to) {
    if (!has_c_length(credentials)) return ZBADARGUMENTS;
    return request(scheme, reply_to, [&](const char* name, completion* data) {
        return zoo_add_auth(handle_, name, credentials.data(), length_of(credentials),
                            &replies::of_void, data);
    });
}

int c_client::create(const std::string& path, std::string_view data, const create_options& how,
                     done reply_to) {
    if (!has_c_length(data)) return ZBADARGUMENTS;
    return request(path, reply_to, [&](const char* name, completion* completes) {
        c_acl list(how.acl);
        const std::int64_t ttl = has_ttl(how.mode) ? how.ttl.count() : -1;
        return zoo_acreate2_ttl(handle_, name, bytes_of(data), length_of(data), list.get(),
                                to_c(how.mode), ttl, &replies::of_create, completes);
    });
}

int c_client::get(const std::string& path, bool watch, done reply_to) {
    return request(path, reply_to, [&](const char* name, completion* data) {
        return zoo_aget(handle_, name, watch ? 1 : 0, &replies::of_data, data);
    });
}

int c_client::exists(const std::string& path, bool watch, done reply_to) {
    return request(path, reply_to, [&](const char* name, completion* data) {
        return zoo_aexists(handle_, name, watch ? 1 : 0, &replies::of_stat, data);
    });
}

int c_client::children(const std::string& path, bool watch, done reply_to) {
    return request(path, reply_to, [&](const char* name, completion* data) {
        return zoo_aget_children2(handle_, name, watch ? 1 : 0, &replies::of_names, data);
    });
}

int c_client::set(const std::string& path, std::string_view data, std::int32_t version,
                  done reply_to) {
    if (!has_c_length(data)) return ZBADARGUMENTS;
    return request(path, reply_to, [&](const char* name, completion* completes) {
        return zoo_aset(handle_, name, bytes_of(data), length_of(data), version, &replies::of_stat,
                        completes);
    });
}

int c_client::remove(const std::string& path, std::int32_t version, done reply_to) {
    return request(path, reply_to, [&](const char* name, completion* data) {
        return zoo_adelete(handle_, name, version, &replies::of_void, data);
    });
}

int c_client::sync(const std::string& path, done reply_to) {
    return request(path, reply_to, [&](const char* name, completion* data) {
        return zoo_async(handle_, name, &replies::of_string, data);
    });
}

int c_client::get_acl(const std::string& path, done reply_to) {
    return request(path, reply_to, [&](const char* name, completion* data) {
        return zoo_aget_acl(handle_, name, &replies::of_acl, data);
    });
}

int c_client::set_acl(const std::string& path, const acl& entries, std::int32_t version,
                      done reply_to) {
    return request(path, reply_to, [&](const char* name, completion* data) {
        c_acl list(entries);
        return zoo_aset_acl(handle_, name, version, list.get(), &replies::of_void, data);
    });
}

int c_client::remove_watches(const std::string& path, done reply_to) {
    return request(path, reply_to, [&](const char* name, completion* data) {
        // The prototype declares a pointer to a function pointer, but the code calls the function.
        auto* const odd = reinterpret_cast<void_completion_t*>(&replies::of_void);
        return zoo_aremove_all_watches(handle_, name, ZWATCHTYPE_ANY, 0, odd, data);
    });
}

} // namespace paddock::native
