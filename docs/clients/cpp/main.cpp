// The command line of the tests: leave it out of your program.
#include <csignal>
#include <fstream>
#include <iostream>
#include <iterator>

#include "latchkey.hpp"

using namespace latchkey;

static void checkVectors(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto document = JsonParser::parse(text);
    const auto* member = document.find("vectors");
    const auto* vectors = member ? std::get_if<Array>(&member->value) : nullptr;
    if (!vectors || vectors->empty()) throw std::runtime_error("no vectors");
    for (const auto& vector : *vectors) {
        const auto secret = vector.text("secret"), body = vector.text("body"), nonce = vector.text("nonce");
        const auto* result = vector.find("result");
        if (!result || !std::holds_alternative<Object>(result->value)) throw std::runtime_error("no result");
        const auto check = [&](const std::string& name, const std::string& actual) {
            if (vector.find(name) == nullptr || vector.text(name) != actual)
                throw std::runtime_error(vector.text("name") + ": " + name + " is " + actual);
        };
        check("body_hex", toHex(body));
        check("x_signature", signRequest(secret, body, vector.text("timestamp")).signature);
        check("jcs", canonicalize(*result));
        check("signature", signResponse(secret, nonce, *result));
        auto members = std::get<Object>(result->value);
        members.push_back({"signature", {vector.text("signature")}});
        verifyResponse(secret, nonce, {members});
    }
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
        } else
            throw std::invalid_argument(
                "vectors <file> | demo <base_url> <app_id> <secret> <username> <password> <hwid>"
                " | demo-license <base_url> <app_id> <secret> <license_key> <hwid>");
        return 0;
    } catch (const LatchkeyError& error) {
        std::cerr << error.code << ": " << error.what() << std::endl;
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
    }
    return 1;
}
