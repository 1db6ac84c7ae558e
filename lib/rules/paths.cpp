#include "rules/paths.hpp"

#include "support/utf8.hpp"

#include <algorithm>
#include <cstdint>

namespace paddock::rules {

namespace {

/// The characters that the server refuses in a path (PathUtils.validatePath). The server checks
/// UTF-16 units, so it refuses the surrogates of every character beyond U+FFFF.
bool refused(std::uint32_t code) noexcept {
    return code <= 0x1f || (code >= 0x7f && code <= 0x9f) || (code >= 0xd800 && code <= 0xf8ff) ||
           code >= 0xfff0;
}

constexpr std::string_view at_byte = " at byte ";

std::string place(std::size_t byte) { return std::string(at_byte) + std::to_string(byte); }

std::string character_fault(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const auto [code, bytes] = first_character(text.substr(i));
        if (bytes == 0) return "is not valid UTF-8" + place(i);
        if (refused(code)) return "has a character that ZooKeeper refuses" + place(i);
        i += bytes;
    }
    return {};
}

} // namespace

std::string name_fault(std::string_view name) {
    if (name.empty()) return "is empty";
    if (name.find('/') != std::string_view::npos) return "contains a '/'";
    if (name == "." || name == "..") return "is relative";
    return character_fault(name);
}

std::string path_fault(std::string_view path) {
    if (path.empty()) return "is empty";
    if (path.front() != '/') return "does not start with '/'";
    if (path == "/") return {};
    if (path.back() == '/') return "ends with '/'";
    for (std::size_t start = 1; start <= path.size();) {
        const auto end = std::min(path.find('/', start), path.size());
        const auto component = path.substr(start, end - start);
        if (component.empty()) return "has an empty component";
        if (component == "." || component == "..") return "has a relative component";
        start = end + 1;
    }
    return character_fault(path);
}

std::size_t name_character(std::string_view text) noexcept {
    const auto [code, bytes] = first_character(text);
    return code == '/' || refused(code) ? 0 : bytes;
}

std::string utf8_fault(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const auto bytes = first_character(text.substr(i)).bytes;
        if (bytes == 0) return "is not valid UTF-8" + place(i);
        i += bytes;
    }
    return {};
}

std::string_view without_place(std::string_view fault) noexcept {
    return fault.substr(0, fault.find(at_byte));
}

std::string_view parent(std::string_view path) noexcept {
    const auto slash = path.rfind('/');
    return slash == 0 ? path.substr(0, 1) : path.substr(0, slash);
}

std::string child(std::string_view directory, std::string_view name) {
    std::string path(directory);
    if (!path.ends_with('/')) path += '/';
    return path += name;
}

std::string_view name_of(std::string_view path) noexcept {
    return path.substr(path.rfind('/') + 1);
}

bool is_below(std::string_view root, std::string_view path) noexcept {
    return root.empty() ||
           (path.starts_with(root) && path.size() > root.size() && path[root.size()] == '/');
}

std::string below(std::string_view root, std::string_view path) {
    if (root.empty()) return std::string(path);
    return path == "/" ? std::string(root) : std::string(root) += path;
}

std::string without(std::string_view root, std::string_view path) {
    path.remove_prefix(root.size());
    return path.empty() ? "/" : std::string(path);
}

} // namespace paddock::rules
