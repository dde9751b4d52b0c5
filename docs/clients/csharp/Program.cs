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
            + " | demo-license <base_url> <app_id> <secret> <license_key> <hwid>";

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
                if (vectors.Count == 0) throw new InvalidDataException("no vectors");
                vectors.ForEach(CheckVector);
                Console.WriteLine(vectors.Count + " vectors agree");
            }
        }

        private static void CheckVector(JsonElement vector)
        {
            string secret = Text(vector, "secret"), nonce = Text(vector, "nonce");
            var body = Encoding.UTF8.GetBytes(Text(vector, "body"));
            var result = vector.GetProperty("result");
            var actual = new Dictionary<string, string>
            {
                ["body_hex"] = Convert.ToHexString(body).ToLowerInvariant(),
                ["x_signature"] = Signatures.SignRequest(secret, body, Text(vector, "timestamp"))["x-signature"],
                ["jcs"] = Signatures.Canonicalize(result),
                ["signature"] = Signatures.SignResponse(secret, nonce, result),
            };
            foreach (var pair in actual)
                if (pair.Value != Text(vector, pair.Key))
                    throw new InvalidDataException(Text(vector, "name") + ": " + pair.Key + " is " + pair.Value);
            var answer = result.EnumerateObject().ToDictionary(member => member.Name, member => member.Value);
            answer["signature"] = vector.GetProperty("signature");
            Signatures.VerifyResponse(secret, nonce, JsonSerializer.SerializeToElement(answer));
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
