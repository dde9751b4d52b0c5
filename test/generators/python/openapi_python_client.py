"""The flow through the client that openapi-python-client generates."""

import os
import secrets
from datetime import datetime
from io import BytesIO
from typing import TypeVar

from latchkey_client import AuthenticatedClient, Client
from latchkey_client.api.applications import create_application
from latchkey_client.api.client import init_application, login_user, logout_user, register_user, verify_session_v2
from latchkey_client.api.developers import register_developer
from latchkey_client.api.files import download_file, upload_file
from latchkey_client.api.licenses import create_licenses, export_licenses, import_licenses, list_licenses
from latchkey_client.models import (
    CreateApplicationRequest,
    CreateApplicationResult,
    CreateLicensesRequest,
    CreateLicensesResult,
    DeveloperSessionResult,
    HostedFileResult,
    ImportLicensesResult,
    InitApplicationRequest,
    InitApplicationResult,
    LicenseList,
    LoginUserRequest,
    LoginUserResult,
    LogoutUserRequest,
    MessageResult,
    ProblemDetails,
    RegisterDeveloperRequest,
    RegisterUserRequest,
    RegisterUserResult,
    VerifySessionV2Request,
    VerifySessionV2Result,
)
from latchkey_client.types import UNSET, File, Unset

T = TypeVar("T")

BASE_URL = os.environ["BASE_URL"]
PASSWORD = secrets.token_urlsafe(16)
HWID = secrets.token_hex(16)


def expect(expected: type[T], response: object) -> T:
    """Every call returns either its result or a problem."""
    assert isinstance(response, expected), response
    return response


def main() -> None:
    anyone = Client(base_url=BASE_URL)
    developer_request = RegisterDeveloperRequest(email=f"{secrets.token_hex(8)}@example.com", password=PASSWORD)
    session = expect(DeveloperSessionResult, register_developer.sync(client=anyone, body=developer_request))
    developer = AuthenticatedClient(base_url=BASE_URL, token=session.token)
    print("ok register a developer")

    application_request = CreateApplicationRequest(name="Aurora Editor")
    application = expect(CreateApplicationResult, create_application.sync(client=developer, body=application_request))
    app_id, secret = application.app_id, application.secret
    print("ok create an application")

    def create_keys(body: CreateLicensesRequest) -> list[str]:
        result = expect(CreateLicensesResult, create_licenses.sync(app_id, client=developer, body=body))
        return [license.license_key for license in result.licenses]

    keys = create_keys(CreateLicensesRequest(amount=3, duration_days=30, tier="Pro"))
    keys += create_keys(CreateLicensesRequest(amount=1, lifetime=True, tier="Pro"))
    assert len(set(keys)) == 4, keys
    print("ok create license keys")

    init_request = InitApplicationRequest(app_id=app_id, secret=secret)
    program = expect(InitApplicationResult, init_application.sync(client=anyone, body=init_request))
    assert program.app_name == "Aurora Editor", program
    print("ok initialize the program")

    user_request = RegisterUserRequest(
        app_id=app_id, secret=secret, username="ada", password=PASSWORD, hwid=HWID, license_key=keys[0]
    )
    expect(RegisterUserResult, register_user.sync(client=anyone, body=user_request))
    print("ok register a user")

    login_request = LoginUserRequest(app_id=app_id, secret=secret, username="ada", password=PASSWORD, hwid=HWID)
    login = expect(LoginUserResult, login_user.sync(client=anyone, body=login_request))
    assert not isinstance(login.user, Unset) and login.user.username == "ada", login
    print("ok log in")

    verify_request = VerifySessionV2Request(app_id=app_id, token=login.token)
    verified = expect(VerifySessionV2Result, verify_session_v2.sync(client=anyone, body=verify_request))
    assert verified.valid and verified.username == "ada" and verified.subscription_tier == "Pro", verified
    assert isinstance(verified.expiry, datetime), verified.expiry
    print("ok verify the session")

    login_request.password = "a wrong password"
    problem = expect(ProblemDetails, login_user.sync(client=anyone, body=login_request))
    assert problem.status == 401 and problem.code == "INVALID_CREDENTIALS" and problem.hint, problem
    print("ok read a problem")

    user_request.email = "not-an-email@"
    invalid = expect(ProblemDetails, register_user.sync(client=anyone, body=user_request))
    assert invalid.code == "VALIDATION_FAILED" and not isinstance(invalid.errors, Unset), invalid
    assert [error.pointer for error in invalid.errors] == ["/email"], invalid
    print("ok read a validation problem")

    listed = []
    cursor: str | Unset | None = UNSET
    while cursor is not None:
        page = expect(LicenseList, list_licenses.sync(app_id, client=developer, limit=2, cursor=cursor))
        listed += page.data
        cursor = page.next_cursor
    assert sorted(license.license_key for license in listed) == sorted(keys), listed
    assert [license.redeemed_by for license in listed].count(None) == 3, listed
    print("ok list pages")

    table = expect(File, export_licenses.sync(app_id, client=developer))
    csv = table.payload.read()
    assert all(key.encode() in csv for key in keys), csv
    print("ok export CSV")

    second_request = CreateApplicationRequest(name="Borealis Editor")
    second = expect(CreateApplicationResult, create_application.sync(client=developer, body=second_request))
    table.payload.seek(0)
    imported = expect(ImportLicensesResult, import_licenses.sync(second.app_id, client=developer, body=table))
    assert imported.imported == 4, imported
    print("ok import CSV")

    content = b"MZ\x00\xff"
    body = File(payload=BytesIO(content))
    file = expect(HostedFileResult, upload_file.sync(app_id, "setup.exe", client=developer, body=body))
    assert file.size == len(content), file
    print("ok upload a file")

    downloaded = expect(File, download_file.sync(app_id, "setup.exe", client=developer))
    assert downloaded.payload.read() == content
    print("ok download a file")

    logout_request = LogoutUserRequest(app_id=app_id, token=login.token)
    expect(MessageResult, logout_user.sync(client=anyone, body=logout_request))
    ended = expect(ProblemDetails, verify_session_v2.sync(client=anyone, body=verify_request))
    assert ended.status == 401 and ended.code == "SESSION_INVALID", ended
    print("ok log out")


main()
