#include "certificates.hpp"

#include <paddock/error.hpp>

#include <chrono>
#include <iostream>
#include <sys/stat.h>
#include <utility>

namespace cli {

namespace {

constexpr std::chrono::seconds between_looks{5};

/// Another text when one of the files is another one, or was written.
std::string state_of(const paddock::tls_files& files) {
    std::string out;
    for (const auto* const file : {&files.ca, &files.certificate, &files.key, &files.crl}) {
        struct stat is {};
        if (file->empty() || ::stat(file->c_str(), &is) != 0) is = {};
        for (const auto part : {static_cast<long>(is.st_ino), static_cast<long>(is.st_size),
                                static_cast<long>(is.st_mtim.tv_sec), is.st_mtim.tv_nsec})
            out += std::to_string(part) + ' ';
    }
    return out;
}

} // namespace

certificates::certificates(boost::asio::any_io_executor executor, paddock::tls_files files,
                           const std::string& name)
    : files_(std::move(files))
    , tls_(files_, name)
    , used_(state_of(files_))
    , pause_(std::move(executor)) {
    wait();
}

void certificates::wait() {
    pause_.expires_after(between_looks);
    pause_.async_wait([this](const boost::system::error_code& cancelled) {
        if (cancelled) return;
        look();
        wait();
    });
}

/// Between two looks a certificate may be new already, and its key not yet.
void certificates::look() {
    const auto now = state_of(files_);
    if (now == used_) return;
    try {
        tls_.replace(paddock::make_tls_context(files_));
        used_ = now;
        unusable_.clear();
    } catch (const paddock::system_error& fault) {
        if (now == unusable_ && !std::exchange(complained_, true))
            std::cerr << std::string(
                             "paddock: the new files of --tls-ca and its like are not used: ") +
                             fault.what() + '\n';
        if (now != unusable_) complained_ = false;
        unusable_ = now;
    }
}

} // namespace cli
