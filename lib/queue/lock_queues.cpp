#include "queue/lock_queues.hpp"

namespace paddock::detail {

std::shared_ptr<lock_queue> lock_queues::get(const std::string& directory,
                                             const rules::naming& names) {
    auto& known = queues_[{directory, names.marker()}];
    if (auto living = known.lock()) return living;
    auto made = std::make_shared<lock_queue>(core_, directory, names);
    known = made;
    if (core_.state() == client_state::connected) made->on_connected();
    if (queues_.size() >= cleanup_size_) {
        std::erase_if(queues_, [](const auto& entry) { return entry.second.expired(); });
        cleanup_size_ = 2 * queues_.size() + 64;
    }
    return made;
}

std::vector<std::shared_ptr<lock_queue>> lock_queues::live_queues() {
    std::vector<std::shared_ptr<lock_queue>> out;
    for (const auto& [key, weak] : queues_)
        if (auto one = weak.lock()) out.push_back(std::move(one));
    return out;
}

void lock_queues::on_connected() {
    for (const auto& one : live_queues())
        one->on_connected();
}

void lock_queues::on_suspended() {
    for (const auto& one : live_queues())
        one->on_suspended();
}

void lock_queues::on_expired() {
    for (const auto& one : live_queues())
        one->on_expired();
}

void lock_queues::on_closed(error_code why) {
    for (const auto& one : live_queues())
        one->on_closed(why);
}

} // namespace paddock::detail
