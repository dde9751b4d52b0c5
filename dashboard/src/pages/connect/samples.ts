import { toCpp } from '../../../../src/http/pages/reference/samples/cpp.ts';
import { toCSharp } from '../../../../src/http/pages/reference/samples/csharp.ts';
import { toCurl } from '../../../../src/http/pages/reference/samples/curl.ts';
import { toPython } from '../../../../src/http/pages/reference/samples/python.ts';
import type { SampleRequest } from '../../../../src/http/pages/reference/samples/request.ts';
import { toTypeScript } from '../../../../src/http/pages/reference/samples/typescript.ts';

/** What a first login needs. */
export interface Login {
  /** The address of the service. */
  readonly url: string;
  readonly appId: string;
  readonly licenseKey: string;
}

const SECRET = "APP_SECRET='sk_YOUR_SECRET'";

/** Stands for the nonce, of which each run needs a new one. */
const NONCE = '@nonce@';

/** A login with a license key, which needs no user. */
function requestOf({ url, appId, licenseKey }: Login): SampleRequest {
  const body = { app_id: appId, license_key: licenseKey, hwid: 'my-machine', nonce: NONCE };
  return {
    operationId: 'loginWithLicense',
    method: 'POST',
    url: `${url}/api/v2/client/login-license`,
    headers: [
      ['Content-Type', { kind: 'text', text: 'application/json' }],
      ['x-signature-version', { kind: 'text', text: '2' }],
      ['x-timestamp', { kind: 'timestamp' }],
      ['x-signature', { kind: 'signature' }],
    ],
    body: JSON.stringify(body, null, 2),
    isJson: true,
    isSigned: true,
  };
}

/** Each language, how it makes a nonce, and the command that runs the example. */
const LANGUAGES = [
  { id: 'curl', label: 'curl', write: toCurl, nonce: [NONCE, "'$(openssl rand -hex 16)'"], run: undefined },
  {
    id: 'python',
    label: 'Python',
    write: toPython,
    nonce: ['""".encode()', `""".replace("${NONCE}", os.urandom(16).hex()).encode()`],
    run: `pip install requests && ${SECRET} python3 login.py`,
  },
  {
    id: 'csharp',
    label: 'C#',
    write: toCSharp,
    nonce: ['""";', `""".Replace("${NONCE}", Guid.NewGuid().ToString("N"));`],
    run: `${SECRET} dotnet run`,
  },
  {
    id: 'cpp',
    label: 'C++',
    write: (request: SampleRequest) => toCpp(request).replace('#include <string>', '#include <random>\n$&'),
    nonce: [NONCE, ')" + std::to_string(std::random_device{}() + 10000000ull) + R"('],
    run: `g++ -std=c++17 login.cpp -o login -lcurl -lcrypto && ${SECRET} ./login`,
  },
  {
    id: 'typescript',
    label: 'TypeScript',
    write: toTypeScript,
    nonce: [`"${NONCE}"`, 'crypto.randomUUID()'],
    run: `${SECRET} node login.mts`,
  },
] as const;

/** A login in every language, with the application's secret as a variable of the environment. */
export function samplesOf(login: Login) {
  const request = requestOf(login);
  return LANGUAGES.map(({ id, label, write, nonce: [place, maker], run }) => {
    const written = write(request);
    if (!written.includes(place)) throw new Error(`${label} has no place for a new nonce`);
    const source = written.replace(place, () => maker);
    // A shell takes the secret from a line of its own, which is pasted with the rest.
    return { id, label, source: id === 'curl' ? `${SECRET}\n${source}\n` : source, run };
  });
}
