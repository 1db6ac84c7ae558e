#pragma once

#include "support/environment.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <memory>

namespace paddock {

/// The parts of the real environment.
std::unique_ptr<timer> make_asio_timer(const boost::asio::any_io_executor& strand);
std::unique_ptr<wakeup> make_asio_wakeup(const boost::asio::any_io_executor& strand,
                                         unique_function<void()> woken);
std::unique_ptr<readiness> make_asio_readiness(const boost::asio::any_io_executor& strand,
                                               descriptor connection);

} // namespace paddock
