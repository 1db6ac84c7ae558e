#include "certificates.hpp"

#include "process.hpp"
#include "time_scale.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace paddock::test {

namespace {

using namespace std::chrono_literals;

/// A slash would begin another part of the name.
std::string escaped(const std::string& text) {
    std::string result;
    for (const char each : text) {
        if (each == '/' || each == '\\' || each == '+') result += '\\';
        result += each;
    }
    return result;
}

std::string subject(const certificate_wishes& wishes) {
    std::string text;
    if (!wishes.organization.empty()) text = "/O=" + escaped(wishes.organization);
    return text + "/CN=" + escaped(wishes.common_name);
}

struct period {
    const char* begin;
    const char* end;
};

/// Of years, so that no clock of a test leaves it by chance.
period period_of(validity wanted) {
    switch (wanted) {
    case validity::over:
        return {"20200101000000Z", "20210101000000Z"};
    case validity::not_yet:
        return {"20480101000000Z", "20490101000000Z"};
    case validity::now:
        break;
    }
    return {"20200101000000Z", "20490101000000Z"};
}

std::string extensions_of(const certificate_wishes& wishes) {
    std::string text = "basicConstraints=critical,CA:FALSE\nsubjectKeyIdentifier=hash\n";
    std::string purposes;
    if (wishes.for_servers) purposes += ",serverAuth";
    if (wishes.for_clients) purposes += ",clientAuth";
    if (!purposes.empty()) text += "extendedKeyUsage=" + purposes.substr(1) + '\n';
    if (!wishes.names.empty()) text += "subjectAltName=" + wishes.names + '\n';
    return text;
}

} // namespace

authority::authority(const std::string& common_name) {
    const auto in = folder_.path().string();
    std::ofstream(in + "/openssl.cnf")
        << "[ca]\ndefault_ca=here\n[here]\ndatabase=" << in << "/issued\nnew_certs_dir=" << in
        << "\nrand_serial=yes\nunique_subject=no\ndefault_md=sha256\ndefault_crl_days=3650\n"
           "policy=any\n[any]\norganizationName=optional\ncommonName=optional\n"
           "[req]\ndistinguished_name=name\n[name]\n";
    std::ofstream{in + "/issued"};
    certificate_wishes wishes;
    wishes.common_name = common_name;
    own_ = make(wishes,
                "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign\n"
                "subjectKeyIdentifier=hash\n",
                true);
}

key_pair authority::issue(const certificate_wishes& wishes) {
    return make(wishes, extensions_of(wishes) + "authorityKeyIdentifier=keyid\n", false);
}

key_pair authority::self_signed(const certificate_wishes& wishes) {
    return make(wishes, extensions_of(wishes), true);
}

key_pair authority::make(const certificate_wishes& wishes, const std::string& extensions,
                         bool by_itself) {
    const key_pair made{new_file(".pem"), new_file(".key")};
    const auto request = new_file(".csr"), wanted = new_file(".ext");
    std::ofstream(wanted) << extensions;
    run({"openssl", "req", "-config", "openssl.cnf", "-new", "-newkey", "ec", "-pkeyopt",
         "ec_paramgen_curve:P-256", "-nodes", "-keyout", made.key, "-out", request, "-utf8",
         "-subj", subject(wishes)});
    const auto period = period_of(wishes.valid);
    std::vector<std::string> command{"openssl",    "ca",
                                     "-config",    "openssl.cnf",
                                     "-batch",     "-notext",
                                     "-in",        request,
                                     "-out",       made.certificate,
                                     "-extfile",   wanted,
                                     "-startdate", period.begin,
                                     "-enddate",   period.end,
                                     "-keyfile",   by_itself ? made.key : own_.key};
    if (by_itself)
        command.push_back("-selfsign");
    else
        command.insert(command.end(), {"-cert", own_.certificate});
    run(command);
    return made;
}

std::string authority::revocations() {
    const auto list = new_file(".crl");
    run({"openssl", "ca", "-config", "openssl.cnf", "-gencrl", "-keyfile", own_.key, "-cert",
         own_.certificate, "-out", list});
    return list;
}

std::string authority::revoke(const key_pair& pair) {
    run({"openssl", "ca", "-config", "openssl.cnf", "-keyfile", own_.key, "-cert", own_.certificate,
         "-revoke", pair.certificate});
    return revocations();
}

key_pair authority::encrypted(const key_pair& pair, const std::string& passphrase) {
    const key_pair made{pair.certificate, new_file(".key")};
    run({"openssl", "pkcs8", "-topk8", "-v2", "aes-256-cbc", "-in", pair.key, "-out", made.key,
         "-passout", "pass:" + passphrase});
    return made;
}

std::string authority::key_store(const key_pair& pair, const std::string& password) {
    const auto store = new_file(".p12");
    run({"openssl", "pkcs12", "-export", "-in", pair.certificate, "-inkey", pair.key, "-certfile",
         own_.certificate, "-name", "paddock", "-out", store, "-passout", "pass:" + password});
    return store;
}

// OpenSSL 3.0 cannot mark a certificate as one that Java trusts.
std::string authority::trust_store(const std::string& password) {
    const auto store = new_file(".p12");
    run({"keytool", "-importcert", "-noprompt", "-alias", "authority", "-file", own_.certificate,
         "-keystore", store, "-storetype", "PKCS12", "-storepass", password});
    return store;
}

void authority::run(const std::vector<std::string>& command) {
    const auto log = new_file(".log");
    child_process process(command, folder_.path().string(), log);
    if (process.wait_for(scaled(60s)) && process.succeeded()) return;
    throw std::runtime_error("'" + command[0] + ' ' + command[1] +
                             "' fails (is it installed?), and says:\n" + content_of(log));
}

std::string authority::new_file(const std::string& extension) {
    return (folder_.path() / (std::to_string(++files_) + extension)).string();
}

std::string list_of_protocols(const tls_of_server& tls, char separator) {
    std::string list;
    for (const auto& each : tls.protocols)
        list += (list.empty() ? "" : std::string(1, separator)) + each;
    return list;
}

bool outdated(const tls_of_server& tls) {
    return std::any_of(tls.protocols.begin(), tls.protocols.end(),
                       [](const auto& each) { return each == "TLSv1" || each == "TLSv1.1"; });
}

} // namespace paddock::test
