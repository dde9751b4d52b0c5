// A client of Latchkey for .NET 8 and later. Copy this file into your program; it needs no package.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Net.Http;
using System.Net.Http.Headers;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using System.Threading.Tasks;

namespace LatchkeyClient
{
    /// <summary>A refusal: <c>Code</c> is the service's, or one of the client's own (see README.md).</summary>
    public sealed class LatchkeyException : Exception
    {
        public LatchkeyException(string code, string message, JsonElement answer = default)
            : base(message)
        {
            Code = code;
            Answer = answer;
        }

        public string Code { get; }

        /// <summary>The body of the service's answer; undefined where there was none.</summary>
        public JsonElement Answer { get; }
    }

    /// <summary>The two signatures of version 2, and the canonical JSON of the second.</summary>
    public static class Signatures
    {
        private static string Hmac(string secret, byte[] data)
        {
            using (var hmac = new HMACSHA256(Encoding.UTF8.GetBytes(secret)))
                return Convert.ToHexString(hmac.ComputeHash(data)).ToLowerInvariant();
        }

        /// <summary>The headers that sign a request.</summary>
        /// <param name="body">The bytes exactly as they will be sent.</param>
        /// <param name="timestamp">Unix milliseconds.</param>
        public static Dictionary<string, string> SignRequest(string secret, byte[] body, string timestamp) =>
            new Dictionary<string, string> { ["x-signature"] = Hmac(secret, body), ["x-timestamp"] = timestamp };

        /// <summary>The signature of a result; its member <c>signature</c> is left out.</summary>
        public static string SignResponse(string secret, string nonce, JsonElement result)
        {
            var members = result.EnumerateObject().Where(member => member.Name != "signature");
            return Hmac(secret, Encoding.UTF8.GetBytes(nonce + "." + CanonicalObject(members)));
        }

        /// <summary>Checks the <c>signature</c> of an answer, and gives the answer back.</summary>
        /// <param name="nonce">The one that was sent with the request.</param>
        /// <exception cref="LatchkeyException">RESPONSE_SIGNATURE_INVALID: it is wrong or missing.</exception>
        public static JsonElement VerifyResponse(string secret, string nonce, JsonElement answer)
        {
            try
            {
                var given = Encoding.UTF8.GetBytes(Text(answer, "signature") ?? "");
                var expected = Encoding.UTF8.GetBytes(SignResponse(secret, nonce, answer));
                if (CryptographicOperations.FixedTimeEquals(given, expected)) return answer;
            }
            catch (InvalidOperationException)
            {
                // What JCS cannot write, nobody has signed.
            }
            const string message = "The answer is not from the service.";
            throw new LatchkeyException("RESPONSE_SIGNATURE_INVALID", message, answer);
        }

        /// <summary>The one JSON text that a value has under RFC 8785 (JCS).</summary>
        public static string Canonicalize(JsonElement value)
        {
            switch (value.ValueKind)
            {
                case JsonValueKind.Object:
                    return CanonicalObject(value.EnumerateObject());
                case JsonValueKind.Array:
                    return "[" + string.Join(",", value.EnumerateArray().Select(Canonicalize)) + "]";
                case JsonValueKind.String:
                    return Quote(value.GetString());
                case JsonValueKind.Number:
                    return Number(value.GetDouble());
                default:
                    return value.GetRawText();
            }
        }

        /// <summary>Ordinal comparison is that of UTF-16 code units, which is the order that JCS wants.</summary>
        private static string CanonicalObject(IEnumerable<JsonProperty> members) =>
            "{" + string.Join(",", members
                .OrderBy(member => member.Name, StringComparer.Ordinal)
                .Select(member => Quote(member.Name) + ":" + Canonicalize(member.Value))) + "}";

        /// <summary>A member that is a string; null where it is absent or no string.</summary>
        internal static string Text(JsonElement answer, string name)
        {
            var found = answer.TryGetProperty(name, out var value) && value.ValueKind == JsonValueKind.String;
            return found ? value.GetString() : null;
        }

        private static string Quote(string text)
        {
            var quoted = new StringBuilder("\"");
            foreach (var unit in text)
            {
                var escape = "\b\t\n\f\r\"\\".IndexOf(unit);
                if (escape >= 0) quoted.Append('\\').Append("btnfr\"\\"[escape]);
                else if (unit < ' ') quoted.Append("\\u00").Append(((int)unit).ToString("x2"));
                else quoted.Append(unit);
            }
            return quoted.Append('"').ToString();
        }

        /// <summary>A number as ECMAScript writes it, which is what JCS wants.</summary>
        private static string Number(double value)
        {
            if (!double.IsFinite(value)) throw new InvalidOperationException("number out of range");
            if (value == 0) return "0";
            // "R" gives the shortest digits that mean this number; only their layout differs.
            var parts = Math.Abs(value).ToString("R", CultureInfo.InvariantCulture).Split('E');
            var whole = parts[0].Split('.')[0];
            var all = parts[0].Replace(".", "");
            var leading = all.Length - all.TrimStart('0').Length;
            var digits = all.Trim('0');
            var count = digits.Length;
            var exponent = parts.Length > 1 ? int.Parse(parts[1], CultureInfo.InvariantCulture) : 0;
            var point = whole.Length - leading + exponent;
            string text;
            if (count <= point && point <= 21) text = digits.PadRight(point, '0');
            else if (0 < point && point <= 21) text = digits.Insert(point, ".");
            else if (-6 < point && point <= 0) text = "0." + new string('0', -point) + digits;
            else
            {
                var power = (point > 0 ? "+" : "-") + Math.Abs(point - 1);
                text = (count > 1 ? digits.Insert(1, ".") : digits) + "e" + power;
            }
            return value < 0 ? "-" + text : text;
        }
    }

    /// <summary>The calls of a client program. One instance serves the whole program.</summary>
    public sealed class Latchkey
    {
        private static readonly HttpClient Http = new HttpClient(new HttpClientHandler { AllowAutoRedirect = false })
        {
            Timeout = TimeSpan.FromSeconds(10),
        };

        private readonly string _base;
        private readonly string _appId;
        private readonly string _secret;

        /// <summary>By how many milliseconds the machine's clock is behind the service's.</summary>
        private long _offset;

        /// <param name="baseUrl">Such as <c>https://auth.example.com</c>.</param>
        public Latchkey(string baseUrl, string appId, string secret)
        {
            _base = baseUrl.TrimEnd('/') + "/api/v2/client/";
            _appId = appId;
            _secret = secret;
        }

        /// <summary>Gives the <c>token</c> of the session and <c>expires_at</c>.</summary>
        public Task<JsonElement> Login(string username, string password, string hwid) => Call("login",
            new Dictionary<string, string> { ["username"] = username, ["password"] = password, ["hwid"] = hwid });

        /// <summary>Gives the <c>token</c> of the session and <c>expires_at</c>.</summary>
        public Task<JsonElement> LoginLicense(string licenseKey, string hwid) => Call("login-license",
            new Dictionary<string, string> { ["license_key"] = licenseKey, ["hwid"] = hwid });

        /// <summary>Gives the user of the session; whatever is not valid throws.</summary>
        public async Task<JsonElement> VerifySession(string token, string hwid = null)
        {
            var fields = new Dictionary<string, string> { ["token"] = token };
            if (hwid != null) fields["hwid"] = hwid;
            var result = await Call("verify-session", fields).ConfigureAwait(false);
            if (IsValid(result)) return result;
            throw new LatchkeyException("SESSION_INVALID", "The session is not valid.", result);
        }

        private static bool IsValid(JsonElement result) =>
            result.TryGetProperty("valid", out var valid) && valid.ValueKind == JsonValueKind.True;

        /// <summary>Ends the session.</summary>
        public Task<JsonElement> Logout(string token) =>
            Call("logout", new Dictionary<string, string> { ["session_token"] = token });

        private async Task<JsonElement> Call(
            string operation, Dictionary<string, string> fields, bool clockIsSet = false)
        {
            var nonce = Convert.ToHexString(RandomNumberGenerator.GetBytes(16)).ToLowerInvariant();
            var members = new Dictionary<string, string>(fields) { ["app_id"] = _appId, ["nonce"] = nonce };
            var body = JsonSerializer.SerializeToUtf8Bytes(members);
            var timestamp = DateTimeOffset.UtcNow.ToUnixTimeMilliseconds() + _offset;
            using (var request = new HttpRequestMessage(HttpMethod.Post, _base + operation))
            {
                request.Content = new ByteArrayContent(body);
                request.Content.Headers.ContentType = new MediaTypeHeaderValue("application/json");
                foreach (var header in Signatures.SignRequest(_secret, body, timestamp.ToString()))
                    request.Headers.Add(header.Key, header.Value);
                using (var response = await Http.SendAsync(request).ConfigureAwait(false))
                {
                    var content = await response.Content.ReadAsByteArrayAsync().ConfigureAwait(false);
                    var answer = ParseObject(content);
                    if (response.IsSuccessStatusCode) return Signatures.VerifyResponse(_secret, nonce, answer);
                    var code = Signatures.Text(answer, "code") ?? "UNEXPECTED_ANSWER";
                    var serverTime = Signatures.Text(answer, "server_time");
                    if (code != "TIMESTAMP_OUT_OF_RANGE" || serverTime == null || clockIsSet)
                    {
                        var status = "HTTP " + (int)response.StatusCode;
                        throw new LatchkeyException(code, Signatures.Text(answer, "detail") ?? status, answer);
                    }
                    var present = DateTimeOffset.Parse(serverTime, CultureInfo.InvariantCulture);
                    _offset = (long)(present - DateTimeOffset.UtcNow).TotalMilliseconds;
                }
            }
            return await Call(operation, fields, true).ConfigureAwait(false);
        }

        private static JsonElement ParseObject(byte[] json)
        {
            try
            {
                using (var document = JsonDocument.Parse(json))
                {
                    var value = document.RootElement;
                    if (value.ValueKind == JsonValueKind.Object) return value.Clone();
                }
            }
            catch (JsonException)
            {
                // Told below, as for every other text that is no JSON object.
            }
            throw new LatchkeyException("UNEXPECTED_ANSWER", "The answer is not a JSON object.");
        }
    }
}
