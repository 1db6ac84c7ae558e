// The files of TLS, which are read again when they have changed: a job or a leader may outlive
// them.
#pragma once

#include <paddock/tls.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <string>

namespace cli {

class certificates {
public:
    /// Throws paddock::bad_argument_error for files that cannot be used.
    certificates(boost::asio::any_io_executor executor, paddock::tls_files files,
                 const std::string& name);

    /// What connections use from now on, also after a change.
    const paddock::tls& tls() const { return tls_; }

private:
    void wait();
    void look();

    paddock::tls_files files_;
    paddock::tls tls_;
    std::string used_;        ///< which files, see state_of()
    std::string unusable_{};  ///< likewise, at the last look
    bool complained_ = false; ///< of these
    boost::asio::steady_timer pause_;
};

} // namespace cli
