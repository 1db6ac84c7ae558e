#include "redis/connection/connection.hpp"

#include "redis/rules/scripts.hpp"
#include "support/printable.hpp"
#include "tls/error.hpp"
#include "tls/stream.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <utility>

namespace paddock::redis {

using boost::system::error_code;
using namespace std::chrono_literals;

namespace {

/// A reply that is late may have arrived while the event loop was stuck: then the next turn reads
/// it. More would be lost time on a server that is gone.
constexpr auto second_look = 100ms;
/// What a server's text may have of a line in the log, in bytes.
constexpr std::size_t longest_text = 500;
/// What RESP adds to a word, or to the list: a type, a length, two line ends.
constexpr std::size_t bytes_beside_word = 16;
/// How much a slower reply counts: an eighth, as TCP smooths its round trips (RFC 6298).
constexpr int part_of_slower = 8;

constexpr const char* no_word =
    "the server has closed the connection without a word: its port expects TLS (rediss://), or no "
    "Redis server is there";
constexpr const char* no_word_after_tls =
    "the server has closed the connection right behind TLS's handshake: it may want a certificate "
    "of the client, or another one";

/// About what a command needs as RESP.
std::size_t bytes_of(const connection::words& command) noexcept {
    std::size_t sum = bytes_beside_word;
    for (const auto& word : command)
        sum += word.size() + bytes_beside_word;
    return sum;
}

} // namespace

connection::connection(environment& env, rules::server where, kind what,
                       const connection_limits& limits, user& informs)
    : env_(env)
    , where_(std::move(where))
    , kind_(what)
    , limits_(limits)
    , user_(informs)
    , timer_(env.make_timer()) {
    resolve();
}

connection::~connection() = default;

bool connection::send(const words& command, replied&& done) {
    return is_open() && queue(command, std::move(done));
}

void connection::give_up(ending how, std::string why) {
    if (given_up_) return;
    given_up_ = {how, std::move(why)};
    env_.post(guarded([this] { end(given_up_->how, given_up_->why); }));
}

bool connection::queue(const words& command, replied&& done) {
    if (out_.size() + in_flight_ + bytes_of(command) > limits_.unsent_bytes) return false;
    const auto now = env_.now();
    rules::append_command(out_, command);
    open_.push_back({now, now, std::move(done)});
    ++unsent_;
    flush();
    if (open_.size() == 1) watch_time();
    return true;
}

/// A server that has nothing to do gets its command at once; else it is written behind all that
/// this turn of the event loop still queues.
void connection::flush() {
    if (in_flight_ > 0 || flush_posted_) return;
    if (open_.size() == 1) return write();
    flush_behind();
}

void connection::flush_behind() {
    flush_posted_ = true;
    env_.post_behind(guarded([this] {
        flush_posted_ = false;
        if (stage_ != stage::ended) write();
    }));
}

void connection::write() {
    if (in_flight_ > 0 || out_.empty()) return;
    const auto now = env_.now();
    for (auto n = open_.size() - std::exchange(unsent_, 0); n < open_.size(); ++n)
        open_[n].sent = now;
    in_flight_ = out_.size();
    const bool done = stream_->write(std::exchange(out_, {}), [this](error_code error) {
        in_flight_ = 0;
        if (error) return broken(error);
        write();
    });
    if (done) in_flight_ = 0;
}

/// RFC 8446, 5.1: a record of the type alert.
bool connection::is_tls_alert(std::string_view bytes) noexcept {
    return bytes.size() > 2 && bytes[0] == 0x15 && bytes[1] == 0x03;
}

void connection::read() {
    stream_->read_some([this](error_code error, std::string_view bytes) { on_read(error, bytes); });
}

void connection::on_read(const error_code& error, std::string_view bytes) {
    if (error == boost::asio::error::eof)
        return end(ending::lost, has_spoken_  ? "the server has closed the connection"
                                 : where_.tls ? no_word_after_tls
                                              : no_word);
    if (error) return broken(error);
    heard_ = env_.now();
    has_spoken_ = true;
    reader_.feed(bytes);
    const std::weak_ptr alive(alive_);
    while (auto said = reader_.next()) {
        deliver(std::move(*said));
        if (alive.expired() || stage_ == stage::ended) return;
        if (given_up_) return end(given_up_->how, given_up_->why);
    }
    if (!reader_.fault().empty())
        return end(ending::lost,
                   is_tls_alert(bytes)
                       ? "the server takes TLS connections only (its tls-port): see rediss://"
                       : "the server has sent " + reader_.fault());
    watch_time();
    read();
}

/// With TLS 1.3 a server looks at the client's certificate when the client has begun to speak, and
/// the end of the connection can overtake the reason.
void connection::broken(const error_code& error) {
    if (is_tls_error(error))
        return end(has_spoken_ || !is_lasting_tls_error(error) ? ending::lost : ending::refused,
                   "TLS: " + tls_fault(error, verified_name(limits_.tls, where_.host)));
    if (stage_ != stage::connecting && !has_spoken_) {
        if (where_.tls) return end(ending::lost, no_word_after_tls);
        if (error == boost::asio::error::connection_reset) return end(ending::lost, no_word);
    }
    end(ending::lost, "the connection is broken: " + error.message());
}

/// One late answer says little: whoever took the time of a pause for that of a round trip would
/// wait for so long that all others come first.
void connection::measure(boot_clock::duration sample) {
    if (round_trip_ == boot_clock::duration::zero() || sample < round_trip_)
        round_trip_ = sample;
    else
        round_trip_ += std::min(sample - round_trip_, round_trip_) / part_of_slower;
}

bool connection::is_message(const rules::reply& said) const {
    return kind_ == kind::subscriber && said.items.size() == 3 && said.items[0].text == "message";
}

void connection::deliver(rules::reply said) {
    if (is_message(said)) return user_.on_message(said.items[1].text, said.items[2].text);
    if (said.is_error()) said.text = shown(std::move(said.text));
    if (open_.size() == unsent_)
        return end(ending::lost, said.is_error() ? "the server says: " + said.text
                                                 : "the server has sent a reply to no command");
    auto first = std::move(open_.front());
    open_.pop_front();
    overdue_ = false;
    measure(env_.now() - first.sent);
    if (first.done) first.done(std::move(said), first.sent);
}

/// Some errors quote the command that they belong to, as far as there is room. The text may go into
/// a log. A password can also be a word of any text: what is left has the same meaning.
std::string connection::shown(std::string text) const {
    if (const auto quoted = text.find("with args beginning with"); quoted != text.npos)
        text.resize(quoted);
    if (!where_.password.empty() && text.find(where_.password) != text.npos)
        return std::string(rules::name_of_error(text)) +
               " (the rest is not shown, because it has the password in it)";
    text.resize(std::min(text.size(), longest_text));
    return printable(text);
}

void connection::watch_time() {
    if (overdue_) return; // the timer is set to the second look
    const auto due =
        open_.empty() ? heard_ + limits_.silence : open_.front().queued + limits_.answer;
    timer_->arm(due, [this] { on_time(); });
}

void connection::on_time() {
    if (open_.empty()) {
        queue({"PING"}, {});
        return;
    }
    if (overdue_)
        return end(ending::lost, "the server has not answered for " +
                                     std::to_string(limits_.answer.count()) + " ms");
    overdue_ = true;
    timer_->arm(env_.now() + second_look, [this] { on_time(); });
}

void connection::end(ending how, const std::string& why) {
    if (std::exchange(stage_, stage::ended) == stage::ended) return;
    timer_->cancel();
    // A late request would set a key again that was released through the next connection.
    if (stream_ && !open_.empty()) stream_->abort();
    stream_.reset();
    out_.clear();
    auto unanswered = std::exchange(open_, {});
    ended_idle_ = unanswered.empty();
    const std::weak_ptr alive(alive_);
    user_.on_end(how, std::string(why)); // `why` may be ours
    for (auto& each : unanswered) {
        if (alive.expired()) return;
        if (each.done) each.done({}, each.sent);
    }
}

unique_function<void()> connection::guarded(unique_function<void()> task) const {
    return [alive = std::weak_ptr(alive_), task = std::move(task)]() mutable {
        if (!alive.expired()) task();
    };
}

} // namespace paddock::redis
