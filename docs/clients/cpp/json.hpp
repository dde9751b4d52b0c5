// JSON (RFC 8259) and its canonical form (RFC 8785, JCS), as far as the client needs them.
#pragma once
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace latchkey {

struct Member;

/// A JSON value; strings are UTF-8.
struct Json {
    std::variant<std::nullptr_t, bool, double, std::string, std::vector<Json>, std::vector<Member>> value;

    /// The member of an object; nullptr when it is absent.
    inline const Json* find(std::string_view name) const;
    /// A member that is a string; `otherwise` when it is absent or not a string.
    inline std::string text(std::string_view name, std::string otherwise = "") const;
};

using Array = std::vector<Json>;
using Object = std::vector<Member>;

struct Member {
    std::string name;
    Json value;
};

const Json* Json::find(std::string_view name) const {
    if (const auto* members = std::get_if<Object>(&value))
        for (const auto& member : *members)
            if (member.name == name) return &member.value;
    return nullptr;
}

std::string Json::text(std::string_view name, std::string otherwise) const {
    const auto* member = find(name);
    const auto* string = member ? std::get_if<std::string>(&member->value) : nullptr;
    return string ? *string : otherwise;
}

/// Parses one JSON text; throws std::invalid_argument when it is not JSON.
class JsonParser {
public:
    static Json parse(std::string_view text) {
        JsonParser parser(text);
        Json value = parser.value(0);
        parser.space();
        parser.require(parser.at_ == text.size());
        return value;
    }

private:
    explicit JsonParser(std::string_view text) : text_(text) {}

    std::string_view text_;
    std::size_t at_ = 0;

    static void require(bool condition) {
        if (!condition) throw std::invalid_argument("not JSON");
    }
    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    char next() {
        require(at_ < text_.size());
        return text_[at_++];
    }
    bool skip(char wanted) { return peek() == wanted && at_ < text_.size() && ++at_; }
    void space() {
        while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') ++at_;
    }
    void word(std::string_view wanted) {
        require(text_.substr(at_, wanted.size()) == wanted);
        at_ += wanted.size();
    }

    Json value(int depth) {
        require(depth < 64);
        space();
        switch (peek()) {
            case '{': return {object(depth)};
            case '[': return {array(depth)};
            case '"': return {string()};
            case 't': return word("true"), Json{true};
            case 'f': return word("false"), Json{false};
            case 'n': return word("null"), Json{nullptr};
            default: return {number()};
        }
    }
    Object object(int depth) {
        Object members;
        next();
        space();
        if (skip('}')) return members;
        do {
            space();
            require(peek() == '"');
            auto name = string();
            space();
            require(skip(':'));
            members.push_back({std::move(name), value(depth + 1)});
            space();
        } while (skip(','));
        require(skip('}'));
        return members;
    }
    Array array(int depth) {
        Array items;
        next();
        space();
        if (skip(']')) return items;
        do {
            items.push_back(value(depth + 1));
            space();
        } while (skip(','));
        require(skip(']'));
        return items;
    }
    void digits() {
        const auto start = at_;
        while (peek() >= '0' && peek() <= '9') ++at_;
        require(at_ > start);
    }
    double number() {
        const auto start = at_;
        skip('-');
        if (!skip('0')) digits();
        if (skip('.')) digits();
        if (skip('e') || skip('E')) {
            if (!skip('+')) skip('-');
            digits();
        }
        double number = 0;
        const char* end = text_.data() + at_;
        const auto result = std::from_chars(text_.data() + start, end, number);
        require(result.ptr == end);
        // JCS cannot write what is beyond the range of a double.
        return result.ec == std::errc() ? number : std::numeric_limits<double>::infinity();
    }
    unsigned unit() {
        unsigned code = 0;
        const auto digits = text_.substr(at_, 4);
        const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
        require(digits.size() == 4 && digits[0] != '-' && result.ptr == digits.data() + 4);
        at_ += 4;
        return code;
    }
    std::string string() {
        std::string text;
        next();
        for (;;) {
            const char c = next();
            if (c == '"') return text;
            require(static_cast<unsigned char>(c) >= 0x20);
            if (c != '\\') {
                text += c;
                continue;
            }
            const char escape = next();
            if (escape == 'u') {
                append(text, codePoint());
                continue;
            }
            const auto known = std::string_view("\"\\/bfnrt").find(escape);
            require(known != std::string_view::npos);
            text += "\"\\/\b\f\n\r\t"[known];
        }
    }
    unsigned codePoint() {
        const unsigned high = unit();
        if (high < 0xD800 || high > 0xDFFF) return high;
        require(high <= 0xDBFF && skip('\\') && skip('u'));
        const unsigned low = unit();
        require(low >= 0xDC00 && low <= 0xDFFF);
        return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
    }
    static void append(std::string& text, unsigned code) {
        const auto byte = [&](unsigned value) { text += static_cast<char>(value); };
        if (code < 0x80) return byte(code);
        if (code < 0x800) byte(0xC0 | (code >> 6));
        else if (code < 0x10000) byte(0xE0 | (code >> 12)), byte(0x80 | ((code >> 6) & 0x3F));
        else byte(0xF0 | (code >> 18)), byte(0x80 | ((code >> 12) & 0x3F)), byte(0x80 | ((code >> 6) & 0x3F));
        byte(0x80 | (code & 0x3F));
    }
};

/// A number as ECMAScript writes it, which JCS requires.
inline std::string canonicalNumber(double value) {
    if (!std::isfinite(value)) throw std::invalid_argument("number out of range");
    if (value == 0) return "0";
    // The shortest digits that mean this number, as d.ddde±xx; only their layout differs.
    char buffer[32];
    constexpr auto layout = std::chars_format::scientific;
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, std::fabs(value), layout).ptr;
    const std::string_view written(buffer, static_cast<std::size_t>(end - buffer));
    const auto mark = written.find('e');
    std::string digits(written.substr(0, mark));
    if (digits.size() > 1) digits.erase(1, 1);
    const int count = static_cast<int>(digits.size());
    const int point = std::stoi(std::string(written.substr(mark + 1))) + 1;
    const std::string sign = value < 0 ? "-" : "";
    if (count <= point && point <= 21) return sign + digits + std::string(point - count, '0');
    if (0 < point && point <= 21) return sign + digits.insert(point, ".");
    if (-6 < point && point <= 0) return sign + "0." + std::string(-point, '0') + digits;
    if (count > 1) digits.insert(1, ".");
    return sign + digits + (point > 0 ? "e+" : "e-") + std::to_string(std::abs(point - 1));
}

inline std::string canonicalString(std::string_view text) {
    constexpr std::string_view escaped = "\b\t\n\f\r\"\\", letters = "btnfr\"\\", hex = "0123456789abcdef";
    std::string quoted = "\"";
    for (const char c : text) {
        const auto known = escaped.find(c);
        if (known != std::string_view::npos) (quoted += '\\') += letters[known];
        else if (static_cast<unsigned char>(c) < 0x20) ((quoted += "\\u00") += hex[c >> 4]) += hex[c & 15];
        else quoted += c;
    }
    return quoted + '"';
}

/// Whether a name comes before another by UTF-16 code units, the order that JCS requires. UTF-8 bytes have
/// it too, but for U+E000 to U+FFFF (lead bytes EE, EF): they come after the surrogates of what is beyond (F0 to F4).
inline bool utf16Less(const std::string& left, const std::string& right) {
    const auto rank = [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte == 0xEE || byte == 0xEF ? byte + 0x10 : byte;
    };
    return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end(),
                                        [&](char a, char b) { return rank(a) < rank(b); });
}

/// The one JSON text that a value has under RFC 8785 (JCS).
inline std::string canonicalize(const Json& json) {
    if (const auto* boolean = std::get_if<bool>(&json.value)) return *boolean ? "true" : "false";
    if (const auto* number = std::get_if<double>(&json.value)) return canonicalNumber(*number);
    if (const auto* text = std::get_if<std::string>(&json.value)) return canonicalString(*text);
    std::string joined;
    if (const auto* items = std::get_if<Array>(&json.value)) {
        for (const auto& item : *items) joined += (joined.empty() ? "" : ",") + canonicalize(item);
        return "[" + joined + "]";
    }
    if (const auto* object = std::get_if<Object>(&json.value)) {
        auto members = *object;
        std::sort(members.begin(), members.end(),
                  [](const Member& a, const Member& b) { return utf16Less(a.name, b.name); });
        for (const auto& member : members)
            joined += (joined.empty() ? "" : ",") + canonicalString(member.name) + ":" +
                      canonicalize(member.value);
        return "{" + joined + "}";
    }
    return "null";
}

}  // namespace latchkey
