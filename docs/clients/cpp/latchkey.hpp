// A client of Latchkey for C++17 and OpenSSL 3 (libssl, libcrypto). Copy this file and json.hpp to your program.
// On POSIX systems a program that uses sockets ignores SIGPIPE: std::signal(SIGPIPE, SIG_IGN).
#pragma once
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>

#include <algorithm>
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
    LatchkeyError(std::string code, const std::string& message, Json answer = {}, bool undecided = false,
                  double retryAfter = 0)
        : std::runtime_error(message), code(std::move(code)), answer(std::move(answer)), undecided(undecided),
          retryAfter(retryAfter) {}
    std::string code;
    Json answer;
    /// Nothing was decided: the service was unreachable or overloaded. The call can be retried.
    bool undecided;
    /// `Retry-After` in seconds, 0 when absent. It is not signed.
    double retryAfter;
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

inline std::string sha256(const std::string& data) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    if (!EVP_Digest(data.data(), data.size(), digest, &size, EVP_sha256(), nullptr))
        throw std::runtime_error("SHA-256 failed");
    return toHex({reinterpret_cast<const char*>(digest), size});
}

/// A request, as the signatures of version 2 cover it: the operationId, such as `loginUserV2`, and the body exactly
/// as it will be sent.
struct Request {
    std::string operation;
    std::string body;
};

/// Send them with `x-signature-version: 2`.
struct SignatureHeaders {
    std::string signature;  // x-signature
    std::string timestamp;  // x-timestamp
};

/// The headers that sign a request; `timestamp` in Unix milliseconds.
inline SignatureHeaders signRequest(const std::string& secret, const Request& request,
                                    const std::string& timestamp) {
    const auto text = "latchkey-request-v2\n" + request.operation + "\n" + timestamp + "\n" + sha256(request.body);
    return {hmacSha256(secret, text), timestamp};
}

/// The signature of a result that is without its `signature`; `nonce` is the one in the body of the request.
inline std::string signResponse(const std::string& secret, const Request& request, const std::string& nonce,
                                const Json& result) {
    return hmacSha256(secret, "latchkey-response-v2\n" + request.operation + "\n" + sha256(request.body) + "\n" +
                                  nonce + "\n" + canonicalize(result));
}

/// Checks the `signature` of a response and returns the response without it; `nonce` is the one in the
/// body of the request.
/// Throws LatchkeyError RESPONSE_SIGNATURE_INVALID when the signature is wrong or missing.
inline Json verifyResponse(const std::string& secret, const Request& request, const std::string& nonce,
                           const Json& answer) {
    Object members;
    if (const auto* object = std::get_if<Object>(&answer.value))
        for (const auto& member : *object)
            if (member.name != "signature") members.push_back(member);
    Json result{std::move(members)};
    try {
        const auto given = answer.text("signature"), expected = signResponse(secret, request, nonce, result);
        if (given.size() == expected.size() && CRYPTO_memcmp(given.data(), expected.data(), given.size()) == 0)
            return result;
    } catch (const std::invalid_argument&) {
        // The service signs nothing that JCS cannot write.
    }
    throw LatchkeyError("RESPONSE_SIGNATURE_INVALID", "The response is not from the service.", answer);
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

    struct Response {
        int status;
        std::string body;
        double retryAfter;
    };

    /// Throws std::runtime_error when there is no response within 10 seconds.
    Response post(const std::string& path, const SignatureHeaders& headers, const std::string& body) const {
        // Under HTTP/1.0 a response ends with its connection and is never sent in chunks.
        const std::string request = "POST " + path_ + path + " HTTP/1.0\r\nHost: " + authority_ +
                                    "\r\nContent-Type: application/json" +
                                    "\r\nContent-Length: " + std::to_string(body.size()) +
                                    "\r\nx-signature-version: 2\r\nx-signature: " + headers.signature +
                                    "\r\nx-timestamp: " + headers.timestamp + "\r\n\r\n" + body;
        const std::time_t deadline = std::time(nullptr) + 10;
        const auto bio = connect(deadline);
        for (std::size_t sent = 0; sent < request.size();) {
            const int count = BIO_write(bio.get(), request.data() + sent, static_cast<int>(request.size() - sent));
            if (count > 0) sent += static_cast<std::size_t>(count);
            else if (!mayGoOn(bio.get(), deadline)) throw std::runtime_error("the request could not be sent");
        }
        std::string response;
        char buffer[4096];
        // An incomplete response fails the check of its signature.
        for (;;) {
            const int count = BIO_read(bio.get(), buffer, sizeof buffer);
            if (count > 0) response.append(buffer, static_cast<std::size_t>(count));
            else if (!mayGoOn(bio.get(), deadline)) break;
            if (response.size() > (1u << 20)) throw std::runtime_error("the response is too long");
        }
        const auto end = response.find("\r\n\r\n");
        int status = 0;
        if (end == std::string::npos || std::sscanf(response.c_str(), "HTTP/1.%*d %3d", &status) != 1)
            throw std::runtime_error("there was no response");
        return {status, response.substr(end + 4), retryAfterOf(response.substr(0, end + 2))};
    }

private:
    struct Free {
        void operator()(BIO* bio) const { BIO_free_all(bio); }
        void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
    };

    bool tls_;
    std::string authority_, host_, address_, path_;
    std::unique_ptr<SSL_CTX, Free> context_;

    /// In whole seconds; 0 when it is absent or has another form.
    static double retryAfterOf(std::string head) {
        for (auto& c : head)
            if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        const std::string name = "\r\nretry-after:";
        const auto at = head.find(name);
        double seconds = 0;
        return at != std::string::npos && std::sscanf(head.c_str() + at + name.size(), "%15lf", &seconds) == 1 &&
                       seconds > 0
                   ? seconds
                   : 0;
    }

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
        // Not blocking, so that the deadline is kept.
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

    /// Returns the `token` of the session and `expires_at`.
    Json login(const std::string& username, const std::string& password, const std::string& hwid) {
        return call("login", "loginUserV2", {{"username", {username}}, {"password", {password}}, {"hwid", {hwid}}});
    }
    /// Returns the `token` of the session and `expires_at`.
    Json loginLicense(const std::string& licenseKey, const std::string& hwid) {
        return call("login-license", "loginWithLicense", {{"license_key", {licenseKey}}, {"hwid", {hwid}}});
    }
    /// Returns the user of the session; throws when the session is not valid. An empty `hwid` is not sent.
    Json verifySession(const std::string& token, const std::string& hwid = "") {
        Object fields{{"token", {token}}};
        if (!hwid.empty()) fields.push_back({"hwid", {hwid}});
        auto result = call("verify-session", "verifySessionV2", std::move(fields));
        const auto* member = result.find("valid");
        const auto* valid = member ? std::get_if<bool>(&member->value) : nullptr;
        if (valid && *valid) return result;
        throw LatchkeyError("SESSION_INVALID", "The session is not valid.", result);
    }
    /// Ends the session.
    Json logout(const std::string& token) { return call("logout", "logoutUserV2", {{"session_token", {token}}}); }

private:
    Http http_;
    std::string appId_, secret_;
    /// How many milliseconds the machine's clock is behind the service's.
    long long offset_ = 0;

    static long long now() {
        using namespace std::chrono;
        return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
    }

    Json call(const std::string& path, const std::string& operation, Object fields, bool corrected = false,
              long long correction = 0) {
        unsigned char random[16];
        if (RAND_bytes(random, sizeof random) != 1) throw std::runtime_error("no randomness");
        const auto nonce = toHex({reinterpret_cast<const char*>(random), sizeof random});
        auto members = fields;
        members.push_back({"app_id", {appId_}});
        members.push_back({"nonce", {nonce}});
        const Request request{operation, canonicalize({members})};
        const auto offset = corrected ? correction : offset_;
        const auto headers = signRequest(secret_, request, std::to_string(now() + offset));
        const auto [status, text, retryAfter] = send("/api/v2/client/" + path, headers, request.body);
        if (status == 408 || status == 429 || status >= 500) {
            Json problem;
            try {
                problem = parseObject(text);
            } catch (const LatchkeyError&) {
                // A proxy in between may send another form.
            }
            throw LatchkeyError(problem.text("code", "UNEXPECTED_ANSWER"), "HTTP " + std::to_string(status), problem,
                                true, retryAfter);
        }
        const auto answer = parseObject(text);
        if (status >= 200 && status < 300) {
            auto result = verifyResponse(secret_, request, nonce, answer);
            // Only a signed response proves that the time was the service's.
            offset_ = offset;
            return result;
        }
        const auto code = answer.text("code", "UNEXPECTED_ANSWER");
        const auto serverTime = answer.text("server_time");
        if (code == "TIMESTAMP_OUT_OF_RANGE" && !serverTime.empty() && !corrected)
            return call(path, operation, std::move(fields), true, unixMilliseconds(serverTime) - now());
        throw LatchkeyError(code, answer.text("detail", "HTTP " + std::to_string(status)), answer);
    }

    Http::Response send(const std::string& path, const SignatureHeaders& headers, const std::string& body) const {
        try {
            return http_.post(path, headers, body);
        } catch (const std::runtime_error& error) {
            throw LatchkeyError("UNREACHABLE", error.what(), {}, true);
        }
    }

    static Json parseObject(const std::string& text) {
        try {
            auto value = JsonParser::parse(text);
            if (std::holds_alternative<Object>(value.value)) return value;
        } catch (const std::invalid_argument&) {
            // Reported below, like every other text that is not a JSON object.
        }
        throw LatchkeyError("UNEXPECTED_ANSWER", "The response is not a JSON object.");
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

/// Whether a program may run, by the times of its successes in seconds of a monotonic clock.
class Grace {
public:
    /// `seconds` is how long the program may run after the last success; a day at most.
    explicit Grace(double seconds) : seconds_(std::min(seconds, 86400.0)) {}

    /// A signed success.
    void succeeded(double now) {
        succeeded_ = true;
        succeededAt_ = now;
        failures_ = 0;
    }
    /// Nothing was decided. Returns the seconds until the next attempt, 0 when the program may no longer run.
    /// `retryAfter` is that of the response, 0 without one; 300 seconds at most count.
    double unreachable(double now, double retryAfter = 0) {
        failures_ = std::min(failures_ + 1, 10);
        const double wait = std::min(retryAfter > 0 ? retryAfter : 5.0 * (1 << (failures_ - 1)), 300.0);
        return mayRun(now) ? std::min(wait, succeededAt_ + seconds_ - now) : 0;
    }
    /// A refusal, or a response that is not from the service: nothing revives the session afterwards.
    void refused() { ended_ = true; }
    bool mayRun(double now) const { return !ended_ && succeeded_ && now - succeededAt_ < seconds_; }

private:
    double seconds_, succeededAt_ = 0;
    int failures_ = 0;
    bool succeeded_ = false, ended_ = false;
};

/// Ties a program to its session. It may run after the first signed success, never before.
class Guard {
public:
    /// `graceSeconds` is how long the program continues while the service is unreachable.
    Guard(Latchkey& latchkey, std::string token, std::string hwid, double graceSeconds = 1800)
        : latchkey_(latchkey), token_(std::move(token)), hwid_(std::move(hwid)), grace_(graceSeconds) {}

    /// Whether the program may run now. Check it before everything that you protect.
    bool mayRun() const { return grace_.mayRun(monotonicSeconds()); }

    /// Verifies the session: at the start, and again after the seconds that the last call returned.
    /// Returns the seconds until the next check: 5 to 15 minutes after a success, less while the service
    /// is unreachable.
    /// Throws when the program may not start or continue.
    double check() {
        try {
            // Taken before the request, so that a delayed response gains no time.
            const auto sentAt = monotonicSeconds();
            latchkey_.verifySession(token_, hwid_);
            grace_.succeeded(sentAt);
        } catch (const LatchkeyError& error) {
            if (!error.undecided) {
                grace_.refused();
                throw;
            }
            const auto wait = grace_.unreachable(monotonicSeconds(), error.retryAfter);
            if (wait == 0) throw;
            return wait;
        }
        unsigned char random[2];
        if (RAND_bytes(random, sizeof random) != 1) throw std::runtime_error("no randomness");
        return 300 + (random[0] * 256 + random[1]) % 601;
    }

private:
    Latchkey& latchkey_;
    std::string token_, hwid_;
    Grace grace_;

    /// Unlike the system's clock, this one cannot be set back.
    static double monotonicSeconds() {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    }
};

}  // namespace latchkey
