// A client of Latchkey for C++17 and OpenSSL 3 (libssl, libcrypto). Copy this file and json.hpp to your program.
// On POSIX systems a program that uses sockets ignores SIGPIPE: std::signal(SIGPIPE, SIG_IGN).
#pragma once
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>
#include <stdexcept>
#include <string>

#include "json.hpp"

namespace latchkey {

/// A refusal: `code` is the service's, or one of the client's own (see README.md); `answer` is the body.
struct LatchkeyError : std::runtime_error {
    LatchkeyError(std::string code, const std::string& message, Json answer = {})
        : std::runtime_error(message), code(std::move(code)), answer(std::move(answer)) {}
    std::string code;
    Json answer;
};

inline std::string toHex(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string hex;
    for (const unsigned char byte : bytes) (hex += digits[byte >> 4]) += digits[byte & 15];
    return hex;
}

inline std::string hmacSha256(const std::string& secret, const std::string& data) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    if (!HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
              reinterpret_cast<const unsigned char*>(data.data()), data.size(), digest, &size))
        throw std::runtime_error("HMAC failed");
    return toHex({reinterpret_cast<const char*>(digest), size});
}

struct SignatureHeaders {
    std::string signature;  // x-signature
    std::string timestamp;  // x-timestamp
};

/// The headers that sign a request: `body` exactly as it will be sent, `timestamp` in Unix milliseconds.
inline SignatureHeaders signRequest(const std::string& secret, const std::string& body,
                                    const std::string& timestamp) {
    return {hmacSha256(secret, body), timestamp};
}

/// The signature of a result that is without its `signature`.
inline std::string signResponse(const std::string& secret, const std::string& nonce, const Json& result) {
    return hmacSha256(secret, nonce + "." + canonicalize(result));
}

/// Checks an answer that carries a `signature`, and gives it back without. `nonce` is the one that was sent.
/// Throws LatchkeyError RESPONSE_SIGNATURE_INVALID when the signature is wrong or missing.
inline Json verifyResponse(const std::string& secret, const std::string& nonce, const Json& answer) {
    Object members;
    if (const auto* object = std::get_if<Object>(&answer.value))
        for (const auto& member : *object)
            if (member.name != "signature") members.push_back(member);
    Json result{std::move(members)};
    try {
        const auto given = answer.text("signature"), expected = signResponse(secret, nonce, result);
        if (given.size() == expected.size() && CRYPTO_memcmp(given.data(), expected.data(), given.size()) == 0)
            return result;
    } catch (const std::invalid_argument&) {
        // What JCS cannot write, nobody has signed.
    }
    throw LatchkeyError("RESPONSE_SIGNATURE_INVALID", "The answer is not from the service.", answer);
}

/// One HTTP or HTTPS request on a connection of its own.
class Http {
public:
    /// `base` is such as `https://auth.example.com`; an IPv6 address needs a name.
    explicit Http(const std::string& base) : tls_(base.rfind("https://", 0) == 0) {
        if (!tls_ && base.rfind("http://", 0) != 0)
            throw std::invalid_argument("the base URL is http:// or https://");
        const auto start = base.find("//") + 2, slash = std::min(base.find('/', start), base.size());
        authority_ = base.substr(start, slash - start);
        path_ = base.substr(slash);
        while (!path_.empty() && path_.back() == '/') path_.pop_back();
        const auto colon = authority_.find(':');
        host_ = authority_.substr(0, colon);
        address_ = colon == std::string::npos ? host_ + (tls_ ? ":443" : ":80") : authority_;
        if (!tls_) return;
        context_.reset(SSL_CTX_new(TLS_client_method()));
        if (!context_ || !SSL_CTX_set_default_verify_paths(context_.get())) throw std::runtime_error("TLS failed");
        SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
    }

    struct Answer {
        int status;
        std::string body;
    };

    /// Throws std::runtime_error when there is no answer within 10 seconds.
    Answer post(const std::string& path, const SignatureHeaders& headers, const std::string& body) const {
        // Under HTTP/1.0 an answer ends with its connection and is never sent in chunks.
        const std::string request = "POST " + path_ + path + " HTTP/1.0\r\nHost: " + authority_ +
                                    "\r\nContent-Type: application/json" +
                                    "\r\nContent-Length: " + std::to_string(body.size()) +
                                    "\r\nx-signature: " + headers.signature +
                                    "\r\nx-timestamp: " + headers.timestamp + "\r\n\r\n" + body;
        const std::time_t deadline = std::time(nullptr) + 10;
        const auto bio = connect(deadline);
        for (std::size_t sent = 0; sent < request.size();) {
            const int count = BIO_write(bio.get(), request.data() + sent, static_cast<int>(request.size() - sent));
            if (count > 0) sent += static_cast<std::size_t>(count);
            else if (!mayGoOn(bio.get(), deadline)) throw std::runtime_error("the request could not be sent");
        }
        std::string answer;
        char buffer[4096];
        // A broken end needs no care: what is missing fails the signature.
        for (;;) {
            const int count = BIO_read(bio.get(), buffer, sizeof buffer);
            if (count > 0) answer.append(buffer, static_cast<std::size_t>(count));
            else if (!mayGoOn(bio.get(), deadline)) break;
            if (answer.size() > (1u << 20)) throw std::runtime_error("the answer is too long");
        }
        const auto end = answer.find("\r\n\r\n");
        int status = 0;
        if (end == std::string::npos || std::sscanf(answer.c_str(), "HTTP/1.%*d %3d", &status) != 1)
            throw std::runtime_error("there was no answer");
        return {status, answer.substr(end + 4)};
    }

private:
    struct Free {
        void operator()(BIO* bio) const { BIO_free_all(bio); }
        void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
    };

    bool tls_;
    std::string authority_, host_, address_, path_;
    std::unique_ptr<SSL_CTX, Free> context_;

    std::unique_ptr<BIO, Free> connect(std::time_t deadline) const {
        std::unique_ptr<BIO, Free> bio(tls_ ? BIO_new_ssl_connect(context_.get()) : BIO_new(BIO_s_connect()));
        if (!bio) throw std::runtime_error("no connection");
        BIO_set_conn_hostname(bio.get(), address_.c_str());
        if (tls_) {
            SSL* ssl = nullptr;
            BIO_get_ssl(bio.get(), &ssl);
            if (!SSL_set_tlsext_host_name(ssl, host_.c_str()) || !SSL_set1_host(ssl, host_.c_str()))
                throw std::runtime_error("TLS failed");
        }
        // Not blocking, so that the deadline holds.
        BIO_set_nbio(bio.get(), 1);
        while (BIO_do_connect(bio.get()) != 1)
            if (!mayGoOn(bio.get(), deadline)) throw std::runtime_error("no connection to " + address_);
        return bio;
    }
    static bool mayGoOn(BIO* bio, std::time_t deadline) {
        return BIO_should_retry(bio) && BIO_wait(bio, deadline, 50) == 1;
    }
};

/// The calls of a client program.
class Latchkey {
public:
    Latchkey(const std::string& baseUrl, std::string appId, std::string secret)
        : http_(baseUrl), appId_(std::move(appId)), secret_(std::move(secret)) {}

    /// Gives the `token` of the session and `expires_at`.
    Json login(const std::string& username, const std::string& password, const std::string& hwid) {
        return call("login", {{"username", {username}}, {"password", {password}}, {"hwid", {hwid}}});
    }
    /// Gives the `token` of the session and `expires_at`.
    Json loginLicense(const std::string& licenseKey, const std::string& hwid) {
        return call("login-license", {{"license_key", {licenseKey}}, {"hwid", {hwid}}});
    }
    /// Gives the user of the session; whatever is not valid throws. An empty `hwid` is not sent.
    Json verifySession(const std::string& token, const std::string& hwid = "") {
        Object fields{{"token", {token}}};
        if (!hwid.empty()) fields.push_back({"hwid", {hwid}});
        auto result = call("verify-session", std::move(fields));
        const auto* member = result.find("valid");
        const auto* valid = member ? std::get_if<bool>(&member->value) : nullptr;
        if (valid && *valid) return result;
        throw LatchkeyError("SESSION_INVALID", "The session is not valid.", result);
    }
    /// Ends the session.
    Json logout(const std::string& token) { return call("logout", {{"session_token", {token}}}); }

private:
    Http http_;
    std::string appId_, secret_;
    /// By how many milliseconds the machine's clock is behind the service's.
    long long offset_ = 0;

    static long long now() {
        using namespace std::chrono;
        return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
    }

    Json call(const std::string& operation, Object fields, bool clockIsSet = false) {
        unsigned char random[16];
        if (RAND_bytes(random, sizeof random) != 1) throw std::runtime_error("no randomness");
        const auto nonce = toHex({reinterpret_cast<const char*>(random), sizeof random});
        auto members = fields;
        members.push_back({"app_id", {appId_}});
        members.push_back({"nonce", {nonce}});
        const auto body = canonicalize({members});
        const auto headers = signRequest(secret_, body, std::to_string(now() + offset_));
        const auto [status, text] = http_.post("/api/v2/client/" + operation, headers, body);
        const auto answer = parseObject(text);
        if (status >= 200 && status < 300) return verifyResponse(secret_, nonce, answer);
        const auto code = answer.text("code", "UNEXPECTED_ANSWER");
        const auto serverTime = answer.text("server_time");
        if (code == "TIMESTAMP_OUT_OF_RANGE" && !serverTime.empty() && !clockIsSet) {
            offset_ = unixMilliseconds(serverTime) - now();
            return call(operation, std::move(fields), true);
        }
        throw LatchkeyError(code, answer.text("detail", "HTTP " + std::to_string(status)), answer);
    }

    static Json parseObject(const std::string& text) {
        try {
            auto value = JsonParser::parse(text);
            if (std::holds_alternative<Object>(value.value)) return value;
        } catch (const std::invalid_argument&) {
            // Told below, as for every other text that is no JSON object.
        }
        throw LatchkeyError("UNEXPECTED_ANSWER", "The answer is not a JSON object.");
    }

    /// From a time such as 2026-11-21T10:00:00.000Z.
    static long long unixMilliseconds(const std::string& time) {
        int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, milliseconds = 0;
        std::sscanf(time.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d.%3d", &year, &month, &day, &hour, &minute, &second,
                    &milliseconds);
        // Days since 1970 in the Gregorian calendar, in years that begin in March.
        const long long years = month > 2 ? year : year - 1;
        const long long days = 365 * years + years / 4 - years / 100 + years / 400 +
                               (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 719469;
        return (((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + milliseconds;
    }
};

}  // namespace latchkey
