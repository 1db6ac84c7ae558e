#pragma once

#include "native/calls.hpp"
#include "rules/batch_places.hpp"
#include "session/request.hpp"

#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace paddock::detail {

/// The directory of the node that a request creates or deletes, or that it lists; else empty.
std::string_view directory_of(const request& what) noexcept;
/// The directory that a request of locks reads or changes, if it is a single one: that of a node,
/// or the one that it makes.
std::optional<std::string_view> place_of(const request& what) noexcept;

/// Whether the request creates or deletes a node's directory, too. Then it is sent as a batch even
/// if it is alone.
bool with_directory(const request& what) noexcept;
bool creates(const request& what) noexcept;
bool mergeable(const request& what) noexcept; ///< may have company in a batch
/// Whether one batch can have both.
bool same_kind(const request& one, const request& other) noexcept;

/// Several creates of lock nodes, or several deletes, that are sent as one multi. Creates and
/// deletes are never mixed, nor are those with their directories mixed with others. The nodes of
/// one directory are created in their order, with the same czxid; so a fencing token has the
/// sequence number, too.
///
/// The C client cannot tell the czxid of a node that a multi creates. So behind its creates stand
/// three steps that create a node in the directory of the first one, change it, and delete it: the
/// change tells the transaction. They stand last so that they take no sequence number before the
/// other nodes, and nobody can see that node.
class batch {
public:
    /// A refused step wastes the whole batch: with 64, 0.5 ms of a server's time. Tried on a 3.8
    /// server, 256 instead of 64: 12 thousand cycles of lock and unlock a second instead of 11 to
    /// 17, and with directories of their own 61 to 73 thousand instead of 32 to 54.
    static constexpr std::size_t most_nodes = 64;
    /// A small part of what a server takes in one request; only nodes with long labels reach it.
    static constexpr std::size_t most_bytes = std::size_t(64) * 1024;

    batch(const rules::batch_places& places, std::size_t max_bytes, std::size_t max_nodes)
        : places_(places), max_bytes_(max_bytes), max_nodes_(max_nodes) {}

    /// Whether the request can be executed together with those that were added.
    bool fits(const request& what) const;
    /// Adds a request that fits, and that outlives the batch.
    void add(const request& what);
    /// Those in its directory that come later must not overtake it. It outlives the batch, too.
    void leave_out(const request& what);

    requests::multi steps() const;

private:
    bool suits(const request& what) const;
    std::size_t bytes_with(const request& what) const;

    const rules::batch_places& places_;
    std::size_t max_bytes_;
    std::size_t max_nodes_;
    std::size_t bytes_ = 0;
    std::vector<const request*> parts_;
    /// That it creates or deletes, and those of requests that were left out.
    std::unordered_set<std::string_view> directories_;
};

/// How many steps of a batch with this request each of its requests has.
std::size_t steps_of_each(const request& what) noexcept;
/// What to send for a request that is in no batch with others.
request as_sent(const request& what);
/// The stat of the nodes that a batch has created, as far as it is known; `steps` is the number of
/// the steps of its requests.
node_stat stat_of_created(const native::reply& answer, std::size_t steps);

} // namespace paddock::detail
