"""The flow through the client that openapi-generator's python generator makes."""

import os
import secrets
from datetime import datetime

from openapi_client import (
    ApiClient,
    ApplicationsApi,
    ClientApi,
    Configuration,
    CreateApplicationRequest,
    CreateLicensesRequest,
    DevelopersApi,
    FilesApi,
    InitApplicationRequest,
    License,
    LicensesApi,
    LoginUserRequest,
    LogoutUserRequest,
    ProblemDetails,
    RegisterDeveloperRequest,
    RegisterUserRequest,
    VerifySessionV2Request,
)
from openapi_client.exceptions import ApiException, BadRequestException, UnauthorizedException

PASSWORD = secrets.token_urlsafe(16)
HWID = secrets.token_hex(16)


def problem_of(exception: ApiException) -> ProblemDetails:
    assert isinstance(exception.data, ProblemDetails), exception
    return exception.data


def main() -> None:
    configuration = Configuration(host=os.environ["BASE_URL"])
    api_client = ApiClient(configuration)
    developer_request = RegisterDeveloperRequest(email=f"{secrets.token_hex(8)}@example.com", password=PASSWORD)
    configuration.access_token = DevelopersApi(api_client).register_developer(developer_request).token
    applications, licenses = ApplicationsApi(api_client), LicensesApi(api_client)
    client, files = ClientApi(api_client), FilesApi(api_client)
    print("ok register a developer")

    application = applications.create_application(CreateApplicationRequest(name="Aurora Editor"))
    app_id, secret = application.app_id, application.secret
    print("ok create an application")

    days = CreateLicensesRequest(amount=3, duration_days=30, tier="Pro")
    lifetime = CreateLicensesRequest(amount=1, lifetime=True, tier="Pro")
    created = [
        *licenses.create_licenses(app_id, days).licenses,
        *licenses.create_licenses(app_id, lifetime).licenses,
    ]
    keys = [license.license_key for license in created]
    assert len(set(keys)) == 4, keys
    print("ok create license keys")

    program = client.init_application(InitApplicationRequest(app_id=app_id, secret=secret))
    assert program.app_name == "Aurora Editor", program
    print("ok initialize the program")

    user_request = RegisterUserRequest(
        app_id=app_id, secret=secret, username="ada", password=PASSWORD, hwid=HWID, license_key=keys[0]
    )
    client.register_user(user_request)
    print("ok register a user")

    login_request = LoginUserRequest(app_id=app_id, secret=secret, username="ada", password=PASSWORD, hwid=HWID)
    login = client.login_user(login_request)
    assert login.user is not None and login.user.username == "ada", login
    print("ok log in")

    verify_request = VerifySessionV2Request(app_id=app_id, token=login.token)
    verified = client.verify_session_v2(verify_request)
    assert verified.valid and verified.username == "ada" and verified.subscription_tier == "Pro", verified
    assert isinstance(verified.expiry, datetime), verified.expiry
    print("ok verify the session")

    login_request.password = "a wrong password"
    try:
        raise AssertionError(client.login_user(login_request))
    except UnauthorizedException as exception:
        problem = problem_of(exception)
    assert problem.status == 401 and problem.code == "INVALID_CREDENTIALS" and problem.hint, problem
    print("ok read a problem")

    user_request.email = "not-an-email@"
    try:
        raise AssertionError(client.register_user(user_request))
    except BadRequestException as exception:
        problem = problem_of(exception)
    assert problem.code == "VALIDATION_FAILED" and problem.errors, problem
    assert [error.pointer for error in problem.errors] == ["/email"], problem
    print("ok read a validation problem")

    page = licenses.list_licenses(app_id, limit=2)
    listed: list[License] = page.data
    while page.next_cursor is not None:
        page = licenses.list_licenses(app_id, limit=2, cursor=page.next_cursor)
        listed += page.data
    assert sorted(license.license_key for license in listed) == sorted(keys), listed
    assert [license.redeemed_by for license in listed].count(None) == 3, listed
    print("ok list pages")

    table = licenses.export_licenses(app_id)
    assert all(key.encode() in table for key in keys), table
    print("ok export CSV")

    second = applications.create_application(CreateApplicationRequest(name="Borealis Editor"))
    imported = licenses.import_licenses(second.app_id, table)
    assert imported.imported == 4, imported
    print("ok import CSV")

    content = b"MZ\x00\xff"
    file = files.upload_file(app_id, "setup.exe", content)
    assert file.size == len(content), file
    print("ok upload a file")

    downloaded = files.download_file(app_id, "setup.exe")
    assert downloaded == content, downloaded
    print("ok download a file")

    client.logout_user(LogoutUserRequest(app_id=app_id, token=login.token))
    try:
        raise AssertionError(client.verify_session_v2(verify_request))
    except UnauthorizedException as exception:
        problem = problem_of(exception)
    assert problem.status == 401 and problem.code == "SESSION_INVALID", problem
    print("ok log out")


main()
