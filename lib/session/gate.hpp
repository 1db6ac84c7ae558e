#pragma once

#include "native/calls.hpp"
#include "native/pump.hpp"
#include "support/environment.hpp"
#include "support/function.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>

namespace paddock::detail {

/// What the protocol puts around the paths and the data of a request, at most.
inline constexpr std::size_t request_envelope = 64;

/// Before what could not be done is tried again.
inline constexpr std::chrono::milliseconds retry_pause{250};

/// Who goes first: what must be deleted, then the work of lines, then the application.
enum class lane { urgent, line, user };

/// Who must have a say before a request is answered.
enum class answered_by {
    server, ///< the one at hand, and no other: reads
    leader, ///< sync
    quorum, ///< writes, whatever the answer
};

/// A request that the ensemble has answered.
struct sighting {
    answered_by by;
    boot_clock::time_point sent;
    int code;
};

/// Hears of every answer, just before whoever asked.
class witness {
public:
    virtual void on_answer(const sighting& seen) = 0;

protected:
    ~witness() = default;
};

/// The one way to the ensemble. Requests wait here while there is no connection, and the requests
/// of lines also while too many of them are under way. Those of one lane go out in the order in
/// which they came. Strand only.
class gate {
public:
    /// Makes the request and returns the call's code, or `unwanted` if it is not to be sent after
    /// all; then it is never answered.
    using send = unique_function<int(native::calls&, std::unique_ptr<native::completion>)>;
    using answer = unique_function<void(const native::reply&)>;
    static constexpr int unwanted = 1;

    struct limits {
        std::size_t requests;
        std::size_t bytes;
    };

    gate(environment& env, limits window, witness& sees)
        : env_(env), window_(window), witness_(sees) {}

    /// Never answers from within. `bytes` counts for the window of lines.
    void submit(lane which, answered_by by, std::size_t bytes, send make, answer done);

    /// Whether everything that is under way is answered by the server at hand.
    bool only_reads() const noexcept { return beyond_ == 0; }

    /// A connection is up. Nothing is sent before release(), so that the order of lanes holds
    /// whatever the order in which the rooms above wake up.
    void connect(native::pump& connection);
    void release();

    /// The connection is lost. The requests of lines that were not sent are answered with
    /// code::invalid_state; what is urgent, and the application's, waits for the next one.
    void disconnect();

    /// The session is over, and what its lines and deletes wanted with it.
    void end_session();

    /// Answers everything, now and from now on, with code::closing.
    void close();

private:
    struct request {
        answered_by by;
        std::size_t bytes;
        send make;
        answer done;
    };
    class in_flight;
    using queue = std::deque<request>;

    queue& of(lane which) { return queues_[static_cast<std::size_t>(which)]; }
    void drain();
    bool send_one(lane which);
    bool window_open() const noexcept;
    void refuse(lane which, int code);
    void answer_later(answer done, int code);

    environment& env_;
    limits window_;
    witness& witness_;
    native::pump* connection_ = nullptr;
    bool released_ = false;
    bool closed_ = false;
    std::array<queue, 3> queues_;
    std::size_t requests_ = 0; ///< of lines, under way
    std::size_t bytes_ = 0;
    std::size_t beyond_ = 0; ///< under way, and not for the server at hand alone
    answer refused_;         ///< of a request that the C client did not take
};

} // namespace paddock::detail
