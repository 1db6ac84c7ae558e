#include "line/line_table.hpp"

namespace paddock::detail {

line_table& line_table::of(core& client) {
    if (!client.lines) client.lines.reset(new line_table(client));
    return static_cast<line_table&>(*client.lines);
}

std::shared_ptr<line> line_table::find(const std::string& directory, const rules::naming& names) {
    auto& known = lines_[{directory, names.marker()}];
    if (auto living = known.lock()) return living;
    auto made = std::make_shared<line>(core_, directory, names);
    known = made;
    if (core_.state() == client_state::connected) made->on_connected();
    if (lines_.size() >= tidy_at_) {
        std::erase_if(lines_, [](const auto& entry) { return entry.second.expired(); });
        tidy_at_ = 2 * lines_.size() + 64;
    }
    return made;
}

std::vector<std::shared_ptr<line>> line_table::living() {
    std::vector<std::shared_ptr<line>> out;
    for (const auto& [key, weak] : lines_)
        if (auto one = weak.lock()) out.push_back(std::move(one));
    return out;
}

void line_table::on_connected() {
    for (const auto& one : living())
        one->on_connected();
}

void line_table::on_suspended() {
    for (const auto& one : living())
        one->on_suspended();
}

void line_table::on_expired() {
    for (const auto& one : living())
        one->on_expired();
}

void line_table::on_closed(error_code why) {
    for (const auto& one : living())
        one->on_closed(why);
}

} // namespace paddock::detail
