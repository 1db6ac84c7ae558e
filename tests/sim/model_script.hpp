#pragma once

#include "sim/model_worlds.hpp"

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace paddock::test::sim {

/// A random script of requests of two clients, for any world. Its record is the same in every
/// world: transactions are counted from the first, sessions are `own` or `other`.
class script {
public:
    script(place& where, std::uint64_t seed, std::string root);

    /// One line for each answer and event, in the order in which its client got them.
    std::vector<std::string> run();

private:
    struct client final : native::observer {
        void on_session_event(int new_state) noexcept override;
        void on_watch(native::watch_type type, std::string_view path) noexcept override;

        std::unique_ptr<native::calls> calls;
        std::string name;
        std::vector<std::string> log;
        int waiting = 0;
        bool counts = true; ///< whether requests are recorded now
    };

    void open(client& caller);
    void step();
    void burst(client& caller);
    void ask(client& caller);
    void ask_multi(client& caller);
    void add_passing_node(std::vector<operation>& steps, std::string& what);
    void lose_connection(client& caller, client& other);
    void end_session(client& caller);
    void settle();
    void until_answered(client& caller);
    void gather(bool in_any_order = false);
    native::calls::done note(client& caller, std::string what);
    std::string said(const client& caller, const native::reply& r) const;
    std::string path();
    std::int64_t relative(std::int64_t zxid) const { return zxid - first_zxid_; }
    template <typename Condition>
    void turn_until(Condition condition);

    place& where_;
    dice chance_;
    std::string root_;
    client one_, other_;
    std::int64_t first_zxid_ = 0;
    std::vector<std::string> story_;
};

} // namespace paddock::test::sim
