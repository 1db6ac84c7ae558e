#pragma once

#include "support/asio_environment.hpp"
#include "support/environment.hpp"
#include "support/fork.hpp"

#include <boost/asio/basic_waitable_timer.hpp>

#include <chrono>
#include <memory>

namespace paddock {

using io_timer = boost::asio::basic_waitable_timer<
    std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>, io_strand>;

/// The parts of the real environment. `owner` is the process that their event loop belongs to. In a
/// forked child they leave alone what parent and child share, until environment::after_fork().
std::unique_ptr<timer> make_asio_timer(const io_strand& strand,
                                       std::shared_ptr<const process_stamp> owner);
std::unique_ptr<wakeup> make_asio_wakeup(const io_strand& strand, unique_function<void()> woken);
std::unique_ptr<readiness> make_asio_readiness(const io_strand& strand, descriptor connection,
                                               std::shared_ptr<const process_stamp> owner);
/// The stream runs no callback once `environment` has expired.
std::unique_ptr<tcp_stream> make_asio_stream(const io_strand& strand,
                                             std::weak_ptr<const bool> environment);

} // namespace paddock
