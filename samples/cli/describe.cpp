// Writes the manual pages and the completions of the shells, from what --help says.
//     describe FOLDER DATE
#include "command_line.hpp"

#include <paddock/version.hpp>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using options = std::vector<const CLI::Option*>;

std::string replaced(std::string text, const std::string& what, const std::string& with) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
        text.replace(at, what.size(), with);
    return text;
}

std::string roff(const std::string& text) {
    std::string out = replaced(replaced(text, "\\", "\\e"), "-", "\\-");
    if (!out.empty() && (out[0] == '.' || out[0] == '\'')) out = "\\&" + out;
    return replaced(out, "…", "...");
}

/// Paragraphs; lines that are indented stand as they are.
std::string prose(const std::string& text) {
    std::istringstream lines(text);
    std::string out;
    bool example = false;
    for (std::string line; std::getline(lines, line);) {
        const bool indented = line.compare(0, 4, "    ") == 0;
        if (indented != example) out += indented ? ".PP\n.nf\n.RS 4\n" : ".RE\n.fi\n";
        example = indented;
        if (indented)
            out += roff(line.substr(4)) + '\n';
        else
            out += line.empty() ? ".PP\n" : roff(line) + '\n';
    }
    if (example) out += ".RE\n.fi\n";
    return replaced(replaced(out, ".PP\n.PP\n", ".PP\n"), ".fi\n.PP\n", ".fi\n.PP\n");
}

std::string names_of(const CLI::Option& one) {
    std::string names;
    for (const auto& name : one.get_snames())
        names += "-" + name + ", ";
    for (const auto& name : one.get_lnames())
        names += "--" + name + ", ";
    if (!names.empty()) names.resize(names.size() - 2);
    return names;
}

std::string type_of(const CLI::Option& one) {
    const auto type = one.get_type_name();
    return one.get_items_expected_max() == 0 ? "" : type.substr(0, type.find(':'));
}

std::vector<std::string> groups_of(const CLI::App& app) {
    std::vector<std::string> groups;
    for (const CLI::Option* one : app.get_options())
        if (!one->get_positional() &&
            std::find(groups.begin(), groups.end(), one->get_group()) == groups.end())
            groups.push_back(one->get_group());
    return groups;
}

std::string synopsis(const CLI::App& app) {
    std::string text = "paddock " + app.get_name() + " [OPTION…]";
    for (const CLI::Option* one : app.get_options())
        if (one->get_positional())
            text += ' ' + one->get_name() + (one->get_items_expected_max() > 1 ? "…" : "");
    return text;
}

std::string option_paragraphs(const CLI::App& app, const std::string& group) {
    std::string text;
    for (const CLI::Option* one : app.get_options()) {
        const bool positional = one->get_positional();
        if (positional != group.empty() || (!positional && one->get_group() != group)) continue;
        const auto head = positional ? one->get_name() : names_of(*one) + ' ' + type_of(*one);
        text += ".TP\n.B " + roff(head.substr(0, head.find_last_not_of(' ') + 1)) + '\n' +
                roff(one->get_description()) + '\n';
        if (!one->get_envname().empty())
            text += "Its default is the variable " + roff(one->get_envname()) + ".\n";
    }
    return text;
}

std::string heading(const std::string& name, const std::string& date) {
    return ".TH " + roff(name) + " 1 " + date + " \"paddock " +
           std::string(paddock::version().text) + "\" \"User Commands\"\n";
}

std::string page_of_command(const CLI::App& app, const std::string& date, bool runs) {
    std::string page = heading("paddock-" + app.get_name(), date);
    page += ".SH NAME\npaddock\\-" + app.get_name() + " \\- " + roff(app.get_description()) + '\n';
    page += ".SH SYNOPSIS\n" + roff(synopsis(app) + (runs ? " -- COMMAND [ARGUMENT…]" : "")) + '\n';
    page += ".SH DESCRIPTION\n" + prose(app.get_footer()) + ".SH OPTIONS\n";
    page += option_paragraphs(app, "");
    for (const auto& group : groups_of(app))
        page +=
            (group == "Options" ? "" : ".SS " + roff(group) + '\n') + option_paragraphs(app, group);
    return page + ".SH SEE ALSO\npaddock(1)\n";
}

std::string page_of_all(const cli::command_line& all, const std::string& date) {
    std::string page = heading("paddock", date);
    page += ".SH NAME\npaddock \\- " + roff(all.app->get_description()) + '\n';
    page += ".SH SYNOPSIS\npaddock COMMAND [OPTION...] ...\n.SH COMMANDS\n";
    for (const auto& one : all.commands)
        page += ".TP\n.B " + one.app->get_name() + '\n' + roff(one.app->get_description()) + '\n';
    page += ".SH DESCRIPTION\n" + prose(all.app->get_footer());
    page += ".SH SEE ALSO\n";
    for (std::size_t n = 0; n < all.commands.size(); ++n)
        page += "paddock\\-" + all.commands[n].app->get_name() + "(1)" +
                (n + 1 < all.commands.size() ? ",\n" : "\n");
    return page;
}

std::string bash(const cli::command_line& all) {
    std::string commands, cases, files;
    for (const auto& one : all.commands) {
        const auto& name = one.app->get_name();
        commands += (commands.empty() ? "" : " ") + name;
        cases += "    " + name + ") words='";
        std::string words;
        for (const CLI::Option* option : one.app->get_options())
            for (const auto& long_name : option->get_lnames())
                words += (words.empty() ? "--" : " --") + long_name;
        cases += words + "' ;;\n";
    }
    return R"(# Completion of paddock(1) for bash.
_paddock() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words n
  for ((n = 1; n < COMP_CWORD; ++n)); do
    if [[ ${COMP_WORDS[n]} == -- ]]; then # a command, and its own arguments
      if declare -F _command_offset >/dev/null; then
        _command_offset $((n + 1))
      else
        mapfile -t COMPREPLY < <(compgen -c -f -- "$word")
      fi
      return
    fi
  done
  case $before in
    --auth-file|--tls-ca|--tls-cert|--tls-key|--tls-crl) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
    --per) mapfile -t COMPREPLY < <(compgen -W 'hour day week' -- "$word"); return ;;
  esac
  case ${COMP_WORDS[1]} in
)" + cases +
           "    *) words='" + commands + R"( --help --version' ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -F _paddock paddock
)";
}

std::string zsh_text(const std::string& text) {
    return replaced(replaced(replaced(replaced(text, "'", "'\\''"), "[", "\\["), "]", "\\]"), ":",
                    "\\:");
}

/// What is completed behind an option.
std::string zsh_value(const CLI::Option& one) {
    const auto type = type_of(one);
    if (type.empty()) return "";
    if (type == "FILE") return ":file:_files";
    if (type == "PERIOD") return ":period:(hour day week)";
    if (type == "FAMILY KEY") return ":family: :key: ";
    return ':' + zsh_text(type) + ": ";
}

/// As in '(-q --quiet)'{-q,--quiet}'[…]'.
std::string zsh_option(const CLI::Option& one) {
    const auto value = zsh_value(one);
    const bool joined = !value.empty() && one.get_items_expected_max() == 1;
    std::string alone, names;
    for (const auto& name : one.get_snames())
        (alone += '-' + name + ' ', names += '-' + name + ',');
    for (const auto& name : one.get_lnames())
        (alone += "--" + name + ' ', names += "--" + name + (joined ? "=," : ","));
    alone.pop_back();
    names.pop_back();
    const auto text = "'[" + zsh_text(one.get_description()) + ']' + value + '\'';
    if (names.find(',') == std::string::npos) return '\'' + names + text.substr(1);
    return "'(" + alone + ")'{" + names + '}' + text;
}

std::string zsh(const cli::command_line& all) {
    std::string commands, cases;
    for (const auto& one : all.commands) {
        const auto& name = one.app->get_name();
        commands += "    '" + name + ':' + zsh_text(one.app->get_description()) + "'\n";
        cases += "    " + name + ") _arguments \\\n";
        for (const CLI::Option* option : one.app->get_options())
            if (!option->get_positional()) cases += "      " + zsh_option(*option) + " \\\n";
        cases += "      '*:PATH: ' ;;\n";
    }
    return R"(#compdef paddock
# Completion of paddock(1) for zsh.
_paddock() {
  local -a commands
  commands=(
)" + commands +
           R"(  )
  local -i end=${words[(i)--]}
  if ((end < CURRENT)); then # a command, and its own arguments
    shift $end words
    ((CURRENT -= end))
    _normal
    return
  fi
  if ((CURRENT == 2)); then
    _describe command commands
    _describe -o option '(--help --version)'
    return
  fi
  shift words
  ((CURRENT -= 1))
  case $words[1] in
)" + cases +
           "  esac\n}\n_paddock \"$@\"\n";
}

void write(const std::string& file, const std::string& text) {
    std::ofstream(file) << text;
    if (!std::ifstream(file)) throw std::runtime_error("cannot write " + file);
}

} // namespace

int main(int argc, char** argv) try {
    const std::vector<std::string> words(argv, argv + argc);
    const auto all = cli::make_command_line();
    const auto &folder = words.at(1), &date = words.at(2);
    write(folder + "/paddock.1", page_of_all(all, date));
    for (const auto& one : all.commands)
        write(folder + "/paddock-" + one.app->get_name() + ".1",
              page_of_command(*one.app, date, one.runs_a_command));
    write(folder + "/paddock.bash", bash(all));
    write(folder + "/_paddock", zsh(all));
} catch (const std::exception& failed) {
    std::cerr << failed.what() << '\n';
    return 1;
}
