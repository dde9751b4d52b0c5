"""A client of Latchkey for Python 3.8 and later. Copy this file into your program; it needs no package."""

import hashlib
import hmac
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
    """A refusal: `code` is the service's or one of the client's own (see README.md), `answer` the body."""

    def __init__(self, code, message, answer=None):
        super().__init__(message)
        self.code = code
        self.answer = answer or {}


def _hmac(secret, data):
    return hmac.new(secret.encode(), data, hashlib.sha256).hexdigest()


def sign_request(secret, body, timestamp):
    """The headers that sign a request: `body` in the bytes that will be sent, `timestamp` in Unix milliseconds."""
    return {"x-signature": _hmac(secret, body), "x-timestamp": str(timestamp)}


def _number(value):
    """A number as ECMAScript writes it, which is what JCS wants."""
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


def sign_response(secret, nonce, result):
    """The signature of a result that is without its `signature`."""
    return _hmac(secret, (nonce + "." + canonicalize(result)).encode())


def verify_response(secret, nonce, answer):
    """Checks an answer that carries a `signature`, and gives it back without.

    `nonce` is the one that was sent with the request.
    Raises LatchkeyError RESPONSE_SIGNATURE_INVALID when the signature is wrong or missing.
    """
    result = {name: value for name, value in answer.items() if name != "signature"}
    try:
        expected = sign_response(secret, nonce, result)
        if hmac.compare_digest(str(answer.get("signature")).encode(), expected.encode()):
            return result
    except (ValueError, OverflowError, RecursionError):
        pass  # What JCS cannot write, nobody has signed.
    raise LatchkeyError("RESPONSE_SIGNATURE_INVALID", "The answer is not from the service.", answer)


def _parse_object(text):
    def refuse(constant):
        raise ValueError(constant + " is not JSON")

    try:
        value = json.loads(text, parse_constant=refuse)
        if isinstance(value, dict):
            return value
    except (ValueError, RecursionError):
        pass  # Told below, as for every other text that is no JSON object.
    raise LatchkeyError("UNEXPECTED_ANSWER", "The answer is not a JSON object.")


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Latchkey:
    def __init__(self, base_url, app_id, secret):
        self._base = base_url.rstrip("/") + "/api/v2/client/"
        self._app_id = app_id
        self._secret = secret
        self._offset = 0  # By how many milliseconds the machine's clock is behind the service's.
        self._http = urllib.request.build_opener(_NoRedirects)

    def login(self, username, password, hwid):
        """Gives the `token` of the session and `expires_at`."""
        return self._call("login", {"username": username, "password": password, "hwid": hwid})

    def login_license(self, license_key, hwid):
        """Gives the `token` of the session and `expires_at`."""
        return self._call("login-license", {"license_key": license_key, "hwid": hwid})

    def verify_session(self, token, hwid=None):
        """Gives the user of the session; whatever is not valid raises."""
        fields = {"token": token} if hwid is None else {"token": token, "hwid": hwid}
        result = self._call("verify-session", fields)
        if result.get("valid") is not True:
            raise LatchkeyError("SESSION_INVALID", "The session is not valid.", result)
        return result

    def logout(self, token):
        """Ends the session."""
        return self._call("logout", {"session_token": token})

    def _call(self, operation, fields, clock_is_set=False):
        nonce = secrets.token_hex(16)
        body = json.dumps({"app_id": self._app_id, **fields, "nonce": nonce}).encode()
        headers = sign_request(self._secret, body, int(time.time() * 1000) + self._offset)
        headers["content-type"] = "application/json"
        request = urllib.request.Request(self._base + operation, body, headers, method="POST")
        try:
            with self._http.open(request, timeout=10) as response:
                return verify_response(self._secret, nonce, _parse_object(response.read()))
        except urllib.error.HTTPError as error:
            with error:
                status, answer = error.code, _parse_object(error.read())
        code, server_time = answer.get("code"), answer.get("server_time")
        if code == "TIMESTAMP_OUT_OF_RANGE" and isinstance(server_time, str) and not clock_is_set:
            present = datetime.fromisoformat(server_time.replace("Z", "+00:00"))
            self._offset = int((present.timestamp() - time.time()) * 1000)
            return self._call(operation, fields, clock_is_set=True)
        if not isinstance(code, str):
            raise LatchkeyError("UNEXPECTED_ANSWER", "HTTP %d" % status, answer)
        raise LatchkeyError(code, str(answer.get("detail", code)), answer)


# What follows is the command line of the tests: leave it out of your program.


def check_vectors(path):
    with open(path, encoding="utf-8") as file:
        vectors = json.load(file)["vectors"]
    for vector in vectors:
        secret, nonce, result = vector["secret"], vector["nonce"], vector["result"]
        body = vector["body"].encode()
        actual = {
            "body_hex": body.hex(),
            "x_signature": sign_request(secret, body, vector["timestamp"])["x-signature"],
            "jcs": canonicalize(result),
            "signature": sign_response(secret, nonce, result),
        }
        for key, value in actual.items():
            if value != vector[key]:
                raise ValueError("%s: %s is %s" % (vector["name"], key, value))
        verify_response(secret, nonce, {**result, "signature": vector["signature"]})
    if not vectors:
        raise ValueError("no vectors")
    print("%d vectors agree" % len(vectors))


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
        else:
            raise ValueError(
                "vectors <file> | demo <base_url> <app_id> <secret> <username> <password> <hwid>"
                " | demo-license <base_url> <app_id> <secret> <license_key> <hwid>"
            )
    except LatchkeyError as error:
        sys.exit("%s: %s" % (error.code, error))
    except (ValueError, OSError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(*sys.argv[1:])
