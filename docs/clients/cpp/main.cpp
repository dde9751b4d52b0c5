// The command line of the tests: leave it out of your program.
#include <cmath>
#include <csignal>
#include <fstream>
#include <iostream>
#include <iterator>

#include "latchkey.hpp"

using namespace latchkey;

static const Array* arrayOf(const Json& json, const std::string& name) {
    const auto* member = json.find(name);
    return member ? std::get_if<Array>(&member->value) : nullptr;
}

static double numberOf(const Json& json, const std::string& name) {
    const auto* member = json.find(name);
    const auto* number = member ? std::get_if<double>(&member->value) : nullptr;
    return number ? *number : 0;
}

static void checkGrace(const Json& vector) {
    const auto* steps = arrayOf(vector, "steps");
    if (!steps) throw std::runtime_error("no steps");
    Grace grace(numberOf(vector, "grace_seconds"));
    for (const auto& step : *steps) {
        const auto at = numberOf(step, "at");
        const auto event = step.text("event");
        const auto fail = [&](const std::string& what) { throw std::runtime_error(vector.text("name") + ": " + what); };
        if (event == "success") grace.succeeded(at);
        if (event == "refused") grace.refused();
        if (event == "unreachable") {
            const auto wait = grace.unreachable(at, numberOf(step, "retry_after"));
            if (std::abs(wait - numberOf(step, "wait")) > 1e-9) fail("wrong wait");
        }
        const auto* member = step.find("may_run");
        const auto* mayRun = member ? std::get_if<bool>(&member->value) : nullptr;
        if (!mayRun || grace.mayRun(at) != *mayRun) fail("wrong may_run");
    }
}

static void checkVectors(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto document = JsonParser::parse(text);
    const auto *vectors = arrayOf(document, "vectors"), *graces = arrayOf(document, "grace");
    if (!vectors || vectors->empty() || !graces || graces->empty()) throw std::runtime_error("no vectors");
    for (const auto& vector : *vectors) {
        const auto secret = vector.text("secret"), nonce = vector.text("nonce");
        const Request request{vector.text("operation"), vector.text("body")};
        const auto* result = vector.find("result");
        if (!result || !std::holds_alternative<Object>(result->value)) throw std::runtime_error("no result");
        const auto check = [&](const std::string& name, const std::string& actual) {
            if (vector.find(name) == nullptr || vector.text(name) != actual)
                throw std::runtime_error(vector.text("name") + ": " + name + " is " + actual);
        };
        check("body_hex", toHex(request.body));
        check("x_signature_v2", signRequest(secret, request, vector.text("timestamp")).signature);
        check("jcs", canonicalize(*result));
        check("signature_v2", signResponse(secret, request, nonce, *result));
        auto members = std::get<Object>(result->value);
        members.push_back({"signature", {vector.text("signature_v2")}});
        verifyResponse(secret, request, nonce, {members});
    }
    for (const auto& vector : *graces) checkGrace(vector);
    std::cout << vectors->size() << " vectors agree\n";
}

static void demo(Latchkey& client, const Json& session, const std::string& hwid) {
    const auto token = session.text("token");
    std::cout << "login: a session until " << session.text("expires_at") << std::endl;
    const auto verified = client.verifySession(token, hwid);
    std::cout << "verify-session: " << verified.text("user_id") << " is logged in" << std::endl;
    client.logout(token);
    std::cout << "logout: done" << std::endl;
    try {
        client.verifySession(token, hwid);
    } catch (const LatchkeyError& error) {
        if (error.code != "SESSION_INVALID") throw;
        std::cout << "verify-session: refused, SESSION_INVALID" << std::endl;
        return;
    }
    throw std::runtime_error("the session outlived its logout");
}

static void guard(Latchkey& client, const std::string& token, const std::string& hwid, int checks) {
    Guard guarded(client, token, hwid);
    for (int check = 0; check <= checks; ++check) {
        const auto wait = guarded.check();
        std::cout << (check == 0 ? "started" : "continues") << ": next check in " << static_cast<long>(std::ceil(wait))
                  << " s" << std::endl;
    }
}

int main(int count, char** arguments) {
#ifdef SIGPIPE
    std::signal(SIGPIPE, SIG_IGN);
#endif
    const std::vector<std::string> args(arguments + 1, arguments + count);
    try {
        if (args.size() == 2 && args[0] == "vectors") checkVectors(args[1]);
        else if (args.size() == 7 && args[0] == "demo") {
            Latchkey client(args[1], args[2], args[3]);
            demo(client, client.login(args[4], args[5], args[6]), args[6]);
        } else if (args.size() == 6 && args[0] == "demo-license") {
            Latchkey client(args[1], args[2], args[3]);
            demo(client, client.loginLicense(args[4], args[5]), args[5]);
        } else if (args.size() == 7 && args[0] == "guard") {
            Latchkey client(args[1], args[2], args[3]);
            guard(client, args[4], args[5], std::stoi(args[6]));
        } else
            throw std::invalid_argument(
                "vectors <file> | demo <base_url> <app_id> <secret> <username> <password> <hwid>"
                " | demo-license <base_url> <app_id> <secret> <license_key> <hwid>"
                " | guard <base_url> <app_id> <secret> <token> <hwid> <checks>");
        return 0;
    } catch (const LatchkeyError& error) {
        std::cerr << error.code << ": " << error.what() << std::endl;
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
    }
    return 1;
}
