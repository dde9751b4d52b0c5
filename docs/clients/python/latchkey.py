"""A client of Latchkey for Python 3.8 and later. Copy this file into your program; it needs no package."""

import hashlib
import hmac
import http.client
import json
import math
import secrets
import sys
import time
import urllib.error
import urllib.request
from datetime import datetime
from decimal import Decimal


class LatchkeyError(Exception):
    """A refusal: `code` is the service's or one of the client's own (see README.md), `answer` the body.

    `undecided`: nothing was decided, because the service was unreachable or overloaded. `retry_after` is `Retry-After`
    in seconds. It is not signed.
    """

    def __init__(self, code, message, answer=None, undecided=False, retry_after=None):
        super().__init__(message)
        self.code = code
        self.answer = answer or {}
        self.undecided = undecided
        self.retry_after = retry_after


# The last part of each call's path, and the operationId in its signatures.
_OPERATIONS = {
    "login": "loginUserV2",
    "login-license": "loginWithLicense",
    "verify-session": "verifySessionV2",
    "logout": "logoutUserV2",
}


def _hmac(secret, *lines):
    return hmac.new(secret.encode(), "\n".join(lines).encode(), hashlib.sha256).hexdigest()


def _sha256(data):
    return hashlib.sha256(data).hexdigest()


def sign_request(secret, operation, body, timestamp):
    """The headers that sign a request in version 2.

    `operation` is the operationId, such as `loginUserV2`, `body` the bytes that will be sent, `timestamp` in Unix
    milliseconds.
    """
    return {
        "x-signature-version": "2",
        "x-signature": _hmac(secret, "latchkey-request-v2", operation, str(timestamp), _sha256(body)),
        "x-timestamp": str(timestamp),
    }


def _number(value):
    """A number as ECMAScript writes it, which JCS requires."""
    value = float(value)
    if not math.isfinite(value):
        raise ValueError("number out of range")
    if value == 0:
        return "0"
    # repr() gives the shortest digits that mean this number; only their layout differs.
    negative, digits, exponent = Decimal(repr(value)).as_tuple()
    written = "".join(map(str, digits))
    point = len(written) + exponent
    written = written.rstrip("0")
    count = len(written)
    if count <= point <= 21:
        text = written + "0" * (point - count)
    elif 0 < point <= 21:
        text = written[:point] + "." + written[point:]
    elif -6 < point <= 0:
        text = "0." + "0" * -point + written
    else:
        text = written[0] + ("." + written[1:] if count > 1 else "") + "e%+d" % (point - 1)
    return "-" + text if negative else text


def canonicalize(value):
    """The one JSON text that a value has under RFC 8785 (JCS)."""
    if isinstance(value, dict):
        # Strings sort by UTF-16 code units.
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(canonicalize(name) + ":" + canonicalize(value[name]) for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonicalize, value)) + "]"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _number(value)
    return json.dumps(value, ensure_ascii=False)


def sign_response(secret, operation, body, nonce, result):
    """The signature of a result that is without its `signature`; `operation` and `body` are those of the request."""
    return _hmac(secret, "latchkey-response-v2", operation, _sha256(body), nonce, canonicalize(result))


def verify_response(secret, operation, body, nonce, answer):
    """Checks the `signature` of a response and returns the response without it.

    `operation`, `body` and `nonce` are those of the request.
    Raises LatchkeyError RESPONSE_SIGNATURE_INVALID when the signature is wrong or missing.
    """
    result = {name: value for name, value in answer.items() if name != "signature"}
    try:
        expected = sign_response(secret, operation, body, nonce, result)
        if hmac.compare_digest(str(answer.get("signature")).encode(), expected.encode()):
            return result
    except (ValueError, OverflowError, RecursionError):
        pass  # The service signs nothing that JCS cannot write.
    raise LatchkeyError("RESPONSE_SIGNATURE_INVALID", "The response is not from the service.", answer)


def _parse_object(text):
    def refuse(constant):
        raise ValueError(constant + " is not JSON")

    try:
        value = json.loads(text, parse_constant=refuse)
        if isinstance(value, dict):
            return value
    except (ValueError, RecursionError):
        pass  # Reported below, like every other text that is not a JSON object.
    raise LatchkeyError("UNEXPECTED_ANSWER", "The response is not a JSON object.")


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Latchkey:
    def __init__(self, base_url, app_id, secret):
        self._base = base_url.rstrip("/") + "/api/v2/client/"
        self._app_id = app_id
        self._secret = secret
        self._offset = 0  # How many milliseconds the machine's clock is behind the service's.
        self._http = urllib.request.build_opener(_NoRedirects)

    def login(self, username, password, hwid):
        """Returns the `token` of the session and `expires_at`."""
        return self._call("login", {"username": username, "password": password, "hwid": hwid})

    def login_license(self, license_key, hwid):
        """Returns the `token` of the session and `expires_at`."""
        return self._call("login-license", {"license_key": license_key, "hwid": hwid})

    def verify_session(self, token, hwid=None):
        """Returns the user of the session; raises when the session is not valid."""
        fields = {"token": token} if hwid is None else {"token": token, "hwid": hwid}
        result = self._call("verify-session", fields)
        if result.get("valid") is not True:
            raise LatchkeyError("SESSION_INVALID", "The session is not valid.", result)
        return result

    def logout(self, token):
        """Ends the session."""
        return self._call("logout", {"session_token": token})

    def _call(self, call, fields, correction=None):
        operation, nonce = _OPERATIONS[call], secrets.token_hex(16)
        body = json.dumps({"app_id": self._app_id, **fields, "nonce": nonce}).encode()
        offset = self._offset if correction is None else correction
        headers = sign_request(self._secret, operation, body, int(time.time() * 1000) + offset)
        status, text, retry_after = self._send(call, body, headers)
        if status in (408, 429) or status >= 500:
            try:
                answer = _parse_object(text)
            except LatchkeyError:
                answer = {}
            code = answer.get("code")
            code = code if isinstance(code, str) else "UNEXPECTED_ANSWER"
            raise LatchkeyError(code, "HTTP %d" % status, answer, True, retry_after)
        answer = _parse_object(text)
        if 200 <= status < 300:
            result = verify_response(self._secret, operation, body, nonce, answer)
            # Only a signed response proves that the time was the service's.
            self._offset = offset
            return result
        code, server_time = answer.get("code"), answer.get("server_time")
        if code == "TIMESTAMP_OUT_OF_RANGE" and isinstance(server_time, str) and correction is None:
            try:
                present = datetime.fromisoformat(server_time.replace("Z", "+00:00")).timestamp()
            except (ValueError, OverflowError):
                raise LatchkeyError("UNEXPECTED_ANSWER", "The time of the service is not valid.", answer) from None
            return self._call(call, fields, int((present - time.time()) * 1000))
        if not isinstance(code, str):
            raise LatchkeyError("UNEXPECTED_ANSWER", "HTTP %d" % status, answer)
        raise LatchkeyError(code, str(answer.get("detail", code)), answer)

    def _send(self, call, body, headers):
        headers = {**headers, "content-type": "application/json"}
        request = urllib.request.Request(self._base + call, body, headers, method="POST")
        try:
            with self._http.open(request, timeout=10) as response:
                return response.status, response.read(), None
        except urllib.error.HTTPError as error:
            with error:
                wait = error.headers.get("retry-after") or ""
                retry_after = int(wait) if wait.isascii() and wait.isdigit() and len(wait) < 16 else None
                return error.code, error.read(), retry_after
        except (OSError, http.client.HTTPException) as error:
            raise LatchkeyError("UNREACHABLE", str(error), None, True) from error


class Grace:
    """Whether a program may run, by the times of its successes in seconds of a monotonic clock."""

    def __init__(self, seconds):
        """`seconds` is how long the program may run after the last success; a day at most."""
        self._seconds = min(seconds, 86400)
        self._succeeded_at = None
        self._failures = 0
        self._ended = False

    def succeeded(self, now):
        """A signed success."""
        self._succeeded_at, self._failures = now, 0

    def unreachable(self, now, retry_after=None):
        """Nothing was decided. Returns the seconds until the next attempt, 0 when the program may no longer run.

        `retry_after` is that of the response; 300 seconds at most count.
        """
        self._failures = min(self._failures + 1, 10)
        wait = min(retry_after or 5 * 2 ** (self._failures - 1), 300)
        return min(wait, self._succeeded_at + self._seconds - now) if self.may_run(now) else 0

    def refused(self):
        """A refusal, or a response that is not from the service: nothing revives the session afterwards."""
        self._ended = True

    def may_run(self, now):
        return not self._ended and self._succeeded_at is not None and now - self._succeeded_at < self._seconds


class Guard:
    """Ties a program to its session. It may run after the first signed success, never before."""

    def __init__(self, latchkey, token, hwid, grace_seconds=1800):
        """`grace_seconds` is how long the program continues while the service is unreachable."""
        self._latchkey, self._token, self._hwid = latchkey, token, hwid
        self._grace = Grace(grace_seconds)

    def may_run(self):
        """Whether the program may run now. Check it before everything that you protect."""
        return self._grace.may_run(time.monotonic())

    def check(self):
        """Verifies the session: at the start, and again after the seconds that the last call returned.

        Returns the seconds until the next check: 5 to 15 minutes after a success, less while the service is
        unreachable. Raises LatchkeyError when the program may not start or continue.
        """
        # Taken before the request, so that a delayed response gains no time. Unlike the system's clock, this one
        # cannot be set back.
        sent_at = time.monotonic()
        try:
            self._latchkey.verify_session(self._token, self._hwid)
        except LatchkeyError as error:
            if not error.undecided:
                self._grace.refused()
                raise
            wait = self._grace.unreachable(time.monotonic(), error.retry_after)
            if wait == 0:
                raise
            return wait
        self._grace.succeeded(sent_at)
        return 300 + secrets.randbelow(601)


# What follows is the command line of the tests: leave it out of your program.


def check_vectors(path):
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    vectors, graces = document["vectors"], document.get("grace")
    for vector in vectors:
        secret, operation, nonce, result = (vector[key] for key in ("secret", "operation", "nonce", "result"))
        body = vector["body"].encode()
        actual = {
            "body_hex": body.hex(),
            "x_signature_v2": sign_request(secret, operation, body, vector["timestamp"])["x-signature"],
            "jcs": canonicalize(result),
            "signature_v2": sign_response(secret, operation, body, nonce, result),
        }
        for key, value in actual.items():
            if value != vector[key]:
                raise ValueError("%s: %s is %s" % (vector["name"], key, value))
        verify_response(secret, operation, body, nonce, {**result, "signature": vector["signature_v2"]})
    if not vectors or not graces:
        raise ValueError("no vectors")
    for vector in graces:
        grace = Grace(vector["grace_seconds"])
        for step in vector["steps"]:
            at, event = step["at"], step["event"]
            if event == "success":
                grace.succeeded(at)
            if event == "refused":
                grace.refused()
            if event == "unreachable" and grace.unreachable(at, step.get("retry_after")) != step["wait"]:
                raise ValueError("%s: wrong wait at %s" % (vector["name"], at))
            if grace.may_run(at) is not step["may_run"]:
                raise ValueError("%s: wrong may_run at %s" % (vector["name"], at))
    print("%d vectors agree" % len(vectors))


def guard(latchkey, token, hwid, checks):
    guarded = Guard(latchkey, token, hwid)
    for check in range(int(checks) + 1):
        wait = guarded.check()
        print("%s: next check in %d s" % ("continues" if check else "started", math.ceil(wait)))


def demo(latchkey, session, hwid):
    print("login: a session until", session.get("expires_at"))
    print("verify-session:", latchkey.verify_session(session["token"], hwid)["user_id"], "is logged in")
    latchkey.logout(session["token"])
    print("logout: done")
    try:
        latchkey.verify_session(session["token"], hwid)
    except LatchkeyError as error:
        if error.code != "SESSION_INVALID":
            raise
        print("verify-session: refused, SESSION_INVALID")
        return
    raise ValueError("the session outlived its logout")


def main(mode="", *args):
    try:
        if mode == "vectors" and len(args) == 1:
            check_vectors(*args)
        elif mode == "demo" and len(args) == 6:
            latchkey = Latchkey(*args[:3])
            demo(latchkey, latchkey.login(*args[3:]), args[5])
        elif mode == "demo-license" and len(args) == 5:
            latchkey = Latchkey(*args[:3])
            demo(latchkey, latchkey.login_license(*args[3:]), args[4])
        elif mode == "guard" and len(args) == 6:
            guard(Latchkey(*args[:3]), *args[3:])
        else:
            raise ValueError(
                "vectors <file> | demo <base_url> <app_id> <secret> <username> <password> <hwid>"
                " | demo-license <base_url> <app_id> <secret> <license_key> <hwid>"
                " | guard <base_url> <app_id> <secret> <token> <hwid> <checks>"
            )
    except LatchkeyError as error:
        sys.exit("%s: %s" % (error.code, error))
    except (ValueError, OSError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(*sys.argv[1:])
