// A server's role in the ensemble.
#include "sim/ensemble.hpp"
#include "sim/leader.hpp"
#include "sim/server.hpp"

namespace paddock::test::sim {

void server::lead(int epoch, const std::vector<server*>& followers) {
    role_ = role::leading;
    leader_id_ = id;
    epoch_ = epoch;
    leader_ = std::make_unique<leader>(all_, *this, epoch);
    leader_->begin();
    for (auto* const one : followers)
        one->follow(*this);
}

void server::follow(server& leads) {
    role_ = role::following;
    leader_id_ = leads.id;
    epoch_ = leads.epoch_;
    heard_ = time_.now();
    leads.leading()->admit(*this);
}

/// Without a leader a server serves no client. It forgets the requests that no other server knows.
void server::look_for_leader() {
    role_ = role::looking;
    leader_id_ = -1;
    leader_.reset();
    requests_.lose();
    touched_.clear();
    drop_all();
}

void server::lose_data() {
    epoch_ = 0;
    log_.clear();
    applied_ = 0;
    view_ = tree();
}

void server::ping() {
    heard_ = time_.now();
    all_.send(id, leader_id_, [from = id, touched = std::exchange(touched_, {})](server& at) {
        if (at.leader_) at.leader_->pong(from, touched);
    });
}

void server::pulse() {
    if (leader_) return leader_->pulse();
    if (role_ != role::following || time_.now() - heard_ <= all_.sync_limit()) return;
    time_.note([&] { return "server " + std::to_string(id) + " does not hear its leader"; });
    const int before = leader_id_;
    look_for_leader();
    all_.disconnect(id, before);
}

} // namespace paddock::test::sim
