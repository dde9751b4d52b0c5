// The command line of the tests: leave it out of your program.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;
using System.Text.Json;
using System.Threading.Tasks;

namespace LatchkeyClient
{
    internal static class Program
    {
        private const string Usage = "vectors <file>"
            + " | demo <base_url> <app_id> <secret> <username> <password> <hwid>"
            + " | demo-license <base_url> <app_id> <secret> <license_key> <hwid>"
            + " | guard <base_url> <app_id> <secret> <token> <hwid> <checks>";

        private static int Main(string[] args) => Run(args).GetAwaiter().GetResult();

        private static async Task<int> Run(string[] args)
        {
            try
            {
                if (args.Length == 2 && args[0] == "vectors") CheckVectors(args[1]);
                else if (args.Length == 7 && args[0] == "demo")
                {
                    var client = new Latchkey(args[1], args[2], args[3]);
                    await Demo(client, await client.Login(args[4], args[5], args[6]), args[6]);
                }
                else if (args.Length == 6 && args[0] == "demo-license")
                {
                    var client = new Latchkey(args[1], args[2], args[3]);
                    await Demo(client, await client.LoginLicense(args[4], args[5]), args[5]);
                }
                else if (args.Length == 7 && args[0] == "guard")
                {
                    var client = new Latchkey(args[1], args[2], args[3]);
                    await Guarded(new Guard(client, args[4], args[5]), int.Parse(args[6]));
                }
                else throw new ArgumentException(Usage);
                return 0;
            }
            catch (Exception error)
            {
                var code = error is LatchkeyException refusal ? refusal.Code + ": " : "";
                Console.Error.WriteLine(code + error.Message);
                return 1;
            }
        }

        private static void CheckVectors(string path)
        {
            using (var document = JsonDocument.Parse(File.ReadAllBytes(path)))
            {
                var vectors = document.RootElement.GetProperty("vectors").EnumerateArray().ToList();
                var graces = document.RootElement.TryGetProperty("grace", out var found)
                    ? found.EnumerateArray().ToList()
                    : new List<JsonElement>();
                if (vectors.Count == 0 || graces.Count == 0) throw new InvalidDataException("no vectors");
                vectors.ForEach(CheckVector);
                graces.ForEach(CheckGrace);
                Console.WriteLine(vectors.Count + " vectors agree");
            }
        }

        private static void CheckVector(JsonElement vector)
        {
            string secret = Text(vector, "secret"), nonce = Text(vector, "nonce");
            var operation = Text(vector, "operation");
            var body = Encoding.UTF8.GetBytes(Text(vector, "body"));
            var result = vector.GetProperty("result");
            var actual = new Dictionary<string, string>
            {
                ["body_hex"] = Convert.ToHexString(body).ToLowerInvariant(),
                ["x_signature_v2"] =
                    Signatures.SignRequest(secret, operation, body, Text(vector, "timestamp"))["x-signature"],
                ["jcs"] = Signatures.Canonicalize(result),
                ["signature_v2"] = Signatures.SignResponse(secret, operation, body, nonce, result),
            };
            foreach (var pair in actual)
                if (pair.Value != Text(vector, pair.Key))
                    throw new InvalidDataException(Text(vector, "name") + ": " + pair.Key + " is " + pair.Value);
            var answer = result.EnumerateObject().ToDictionary(member => member.Name, member => member.Value);
            answer["signature"] = vector.GetProperty("signature_v2");
            Signatures.VerifyResponse(secret, operation, body, nonce, JsonSerializer.SerializeToElement(answer));
        }

        private static void CheckGrace(JsonElement vector)
        {
            var grace = new Grace(vector.GetProperty("grace_seconds").GetDouble());
            foreach (var step in vector.GetProperty("steps").EnumerateArray())
            {
                var at = step.GetProperty("at").GetDouble();
                var name = Text(vector, "name") + " at " + at;
                switch (Text(step, "event"))
                {
                    case "success":
                        grace.Succeeded(at);
                        break;
                    case "refused":
                        grace.Refused();
                        break;
                    case "unreachable":
                        var retryAfter = step.TryGetProperty("retry_after", out var found)
                            ? found.GetDouble() : (double?)null;
                        if (grace.Unreachable(at, retryAfter) != step.GetProperty("wait").GetDouble())
                            throw new InvalidDataException(name + ": wrong wait");
                        break;
                }
                if (grace.MayRun(at) != step.GetProperty("may_run").GetBoolean())
                    throw new InvalidDataException(name + ": wrong may_run");
            }
        }

        private static async Task Guarded(Guard guard, int checks)
        {
            for (var check = 0; check <= checks; check++)
            {
                var wait = await guard.Check();
                Console.WriteLine(
                    (check == 0 ? "started" : "continues") + ": next check in " + Math.Ceiling(wait) + " s");
            }
        }

        private static string Text(JsonElement vector, string name) => vector.GetProperty(name).GetString();

        private static async Task Demo(Latchkey latchkey, JsonElement session, string hwid)
        {
            var token = Text(session, "token");
            Console.WriteLine("login: a session until " + Text(session, "expires_at"));
            var verified = await latchkey.VerifySession(token, hwid);
            Console.WriteLine("verify-session: " + Text(verified, "user_id") + " is logged in");
            await latchkey.Logout(token);
            Console.WriteLine("logout: done");
            try
            {
                await latchkey.VerifySession(token, hwid);
            }
            catch (LatchkeyException refusal) when (refusal.Code == "SESSION_INVALID")
            {
                Console.WriteLine("verify-session: refused, SESSION_INVALID");
                return;
            }
            throw new InvalidOperationException("the session outlived its logout");
        }
    }
}
