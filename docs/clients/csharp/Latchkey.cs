// A client of Latchkey for .NET 8 and later. Copy this file into your program; it needs no package.
using System;
using System.Collections.Generic;
using System.Diagnostics;
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
        public LatchkeyException(
            string code, string message, JsonElement answer = default, bool undecided = false,
            double? retryAfter = null)
            : base(message)
        {
            Code = code;
            Answer = answer;
            Undecided = undecided;
            RetryAfter = retryAfter;
        }

        public string Code { get; }

        /// <summary>The body of the response; undefined without one.</summary>
        public JsonElement Answer { get; }

        /// <summary>Nothing was decided: the service was unreachable or overloaded. The call can be retried.</summary>
        public bool Undecided { get; }

        /// <summary><c>Retry-After</c> in seconds. It is not signed.</summary>
        public double? RetryAfter { get; }
    }

    /// <summary>The two signatures of version 2, and the canonical JSON of the second.</summary>
    public static class Signatures
    {
        private static string Hmac(string secret, params string[] lines)
        {
            using (var hmac = new HMACSHA256(Encoding.UTF8.GetBytes(secret)))
                return Hex(hmac.ComputeHash(Encoding.UTF8.GetBytes(string.Join("\n", lines))));
        }

        private static string Hex(byte[] bytes) => Convert.ToHexString(bytes).ToLowerInvariant();

        /// <summary>The headers that sign a request.</summary>
        /// <param name="operation">The operationId, such as <c>loginUserV2</c>.</param>
        /// <param name="body">The bytes exactly as they will be sent.</param>
        /// <param name="timestamp">Unix milliseconds.</param>
        public static Dictionary<string, string> SignRequest(
            string secret, string operation, byte[] body, string timestamp)
        {
            var digest = Hex(SHA256.HashData(body));
            return new Dictionary<string, string>
            {
                ["x-signature-version"] = "2",
                ["x-signature"] = Hmac(secret, "latchkey-request-v2", operation, timestamp, digest),
                ["x-timestamp"] = timestamp,
            };
        }

        /// <summary>The signature of a result; its member <c>signature</c> is left out.</summary>
        /// <param name="operation">Of the request, as are body and nonce.</param>
        public static string SignResponse(
            string secret, string operation, byte[] body, string nonce, JsonElement result)
        {
            var members = result.EnumerateObject().Where(member => member.Name != "signature");
            var digest = Hex(SHA256.HashData(body));
            return Hmac(secret, "latchkey-response-v2", operation, digest, nonce, CanonicalObject(members));
        }

        /// <summary>Checks the <c>signature</c> of a response, and returns the response.</summary>
        /// <param name="operation">Of the request, as are body and nonce.</param>
        /// <exception cref="LatchkeyException">RESPONSE_SIGNATURE_INVALID: it is wrong or missing.</exception>
        public static JsonElement VerifyResponse(
            string secret, string operation, byte[] body, string nonce, JsonElement answer)
        {
            try
            {
                var given = Encoding.UTF8.GetBytes(Text(answer, "signature") ?? "");
                var expected = Encoding.UTF8.GetBytes(SignResponse(secret, operation, body, nonce, answer));
                if (CryptographicOperations.FixedTimeEquals(given, expected)) return answer;
            }
            catch (InvalidOperationException)
            {
                // The service signs nothing that JCS cannot write.
            }
            const string message = "The response is not from the service.";
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

        /// <summary>Ordinal comparison is that of UTF-16 code units, the order that JCS requires.</summary>
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

        /// <summary>A number as ECMAScript writes it, which JCS requires.</summary>
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

        /// <summary>How many milliseconds the machine's clock is behind the service's.</summary>
        private long _offset;

        /// <param name="baseUrl">Such as <c>https://auth.example.com</c>.</param>
        public Latchkey(string baseUrl, string appId, string secret)
        {
            _base = baseUrl.TrimEnd('/') + "/api/v2/client/";
            _appId = appId;
            _secret = secret;
        }

        /// <summary>Returns the <c>token</c> of the session and <c>expires_at</c>.</summary>
        public Task<JsonElement> Login(string username, string password, string hwid) => Call("login",
            new Dictionary<string, string> { ["username"] = username, ["password"] = password, ["hwid"] = hwid });

        /// <summary>Returns the <c>token</c> of the session and <c>expires_at</c>.</summary>
        public Task<JsonElement> LoginLicense(string licenseKey, string hwid) => Call("login-license",
            new Dictionary<string, string> { ["license_key"] = licenseKey, ["hwid"] = hwid });

        /// <summary>Returns the user of the session; throws when the session is not valid.</summary>
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

        private static readonly Dictionary<string, string> Operations = new Dictionary<string, string>
        {
            ["login"] = "loginUserV2",
            ["login-license"] = "loginWithLicense",
            ["verify-session"] = "verifySessionV2",
            ["logout"] = "logoutUserV2",
        };

        private async Task<JsonElement> Call(
            string call, Dictionary<string, string> fields, long? correction = null)
        {
            var operation = Operations[call];
            var nonce = Convert.ToHexString(RandomNumberGenerator.GetBytes(16)).ToLowerInvariant();
            var members = new Dictionary<string, string>(fields) { ["app_id"] = _appId, ["nonce"] = nonce };
            var body = JsonSerializer.SerializeToUtf8Bytes(members);
            var offset = correction ?? _offset;
            var timestamp = DateTimeOffset.UtcNow.ToUnixTimeMilliseconds() + offset;
            var headers = Signatures.SignRequest(
                _secret, operation, body, timestamp.ToString(CultureInfo.InvariantCulture));
            var (status, content, retryAfter) = await Send(call, body, headers).ConfigureAwait(false);
            if (status == 408 || status == 429 || status >= 500)
            {
                var problem = TryParseObject(content);
                var reason = problem.HasValue ? Signatures.Text(problem.Value, "code") : null;
                throw new LatchkeyException(
                    reason ?? "UNEXPECTED_ANSWER", "HTTP " + status, problem ?? default, true, retryAfter);
            }
            var answer = ParseObject(content);
            if (status >= 200 && status < 300)
            {
                var result = Signatures.VerifyResponse(_secret, operation, body, nonce, answer);
                // Only a signed response proves that the time was the service's.
                _offset = offset;
                return result;
            }
            var code = Signatures.Text(answer, "code") ?? "UNEXPECTED_ANSWER";
            var serverTime = Signatures.Text(answer, "server_time");
            if (code == "TIMESTAMP_OUT_OF_RANGE" && correction == null
                && DateTimeOffset.TryParse(
                    serverTime, CultureInfo.InvariantCulture, DateTimeStyles.None, out var present))
            {
                var difference = (long)(present - DateTimeOffset.UtcNow).TotalMilliseconds;
                return await Call(call, fields, difference).ConfigureAwait(false);
            }
            throw new LatchkeyException(code, Signatures.Text(answer, "detail") ?? "HTTP " + status, answer);
        }

        private async Task<(int Status, byte[] Content, double? RetryAfter)> Send(
            string call, byte[] body, Dictionary<string, string> headers)
        {
            try
            {
                using (var request = new HttpRequestMessage(HttpMethod.Post, _base + call))
                {
                    request.Content = new ByteArrayContent(body);
                    request.Content.Headers.ContentType = new MediaTypeHeaderValue("application/json");
                    foreach (var header in headers) request.Headers.Add(header.Key, header.Value);
                    using (var response = await Http.SendAsync(request).ConfigureAwait(false))
                    {
                        var content = await response.Content.ReadAsByteArrayAsync().ConfigureAwait(false);
                        var wait = response.Headers.RetryAfter?.Delta?.TotalSeconds;
                        return ((int)response.StatusCode, content, wait);
                    }
                }
            }
            catch (Exception error) when (error is HttpRequestException || error is OperationCanceledException)
            {
                throw new LatchkeyException("UNREACHABLE", error.Message, default, true);
            }
        }

        private static JsonElement? TryParseObject(byte[] json)
        {
            try
            {
                return ParseObject(json);
            }
            catch (LatchkeyException)
            {
                // A proxy in between may send another form.
                return null;
            }
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
                // Reported below, like every other text that is not a JSON object.
            }
            throw new LatchkeyException("UNEXPECTED_ANSWER", "The response is not a JSON object.");
        }
    }

    /// <summary>Whether a program may run, by the times of its successes in seconds of a monotonic clock.</summary>
    public sealed class Grace
    {
        private readonly double _seconds;
        private double? _succeededAt;
        private int _failures;
        private bool _ended;

        /// <param name="seconds">How long the program may run after the last success; a day at most.</param>
        public Grace(double seconds)
        {
            _seconds = Math.Min(seconds, 86400);
        }

        /// <summary>A signed success.</summary>
        public void Succeeded(double now)
        {
            _succeededAt = now;
            _failures = 0;
        }

        /// <summary>Nothing was decided. Returns the seconds until the next attempt, 0 when the program may no longer
        /// run.</summary>
        /// <param name="retryAfter"><c>Retry-After</c> of the response; 300 seconds at most count.</param>
        public double Unreachable(double now, double? retryAfter = null)
        {
            _failures = Math.Min(_failures + 1, 10);
            var wait = retryAfter > 0 ? retryAfter.Value : 5.0 * (1 << (_failures - 1));
            return MayRun(now) ? Math.Min(Math.Min(wait, 300), _succeededAt.Value + _seconds - now) : 0;
        }

        /// <summary>A refusal, or a response that is not from the service: nothing revives the session.</summary>
        public void Refused() => _ended = true;

        public bool MayRun(double now) => !_ended && _succeededAt.HasValue && now - _succeededAt.Value < _seconds;
    }

    /// <summary>Ties a program to its session. It may run after the first signed success, never before.</summary>
    public sealed class Guard
    {
        private readonly Latchkey _latchkey;
        private readonly string _token;
        private readonly string _hwid;
        private readonly Grace _grace;

        /// <param name="graceSeconds">How long the program continues while the service is unreachable.</param>
        public Guard(Latchkey latchkey, string token, string hwid, double graceSeconds = 1800)
        {
            _latchkey = latchkey;
            _token = token;
            _hwid = hwid;
            _grace = new Grace(graceSeconds);
        }

        /// <summary>Whether the program may run now. Check it before everything that you protect.</summary>
        public bool MayRun => _grace.MayRun(MonotonicSeconds());

        /// <summary>Verifies the session: at the start, and again after the seconds that the last call returned.
        /// Returns the seconds until the next check: 5 to 15 minutes after a success, less while the service is
        /// unreachable.</summary>
        /// <exception cref="LatchkeyException">The program may not start or continue.</exception>
        public async Task<double> Check()
        {
            try
            {
                // Taken before the request, so that a delayed response gains no time.
                var sentAt = MonotonicSeconds();
                await _latchkey.VerifySession(_token, _hwid).ConfigureAwait(false);
                _grace.Succeeded(sentAt);
                return RandomNumberGenerator.GetInt32(300, 901);
            }
            catch (LatchkeyException error)
            {
                if (!error.Undecided)
                {
                    _grace.Refused();
                    throw;
                }
                var wait = _grace.Unreachable(MonotonicSeconds(), error.RetryAfter);
                if (wait == 0) throw;
                return wait;
            }
        }

        /// <summary>Unlike the system's clock, this one cannot be set back.</summary>
        private static double MonotonicSeconds() => (double)Stopwatch.GetTimestamp() / Stopwatch.Frequency;
    }
}
