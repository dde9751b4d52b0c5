// The v1 login, which is deprecated, has to work as well.
@file:Suppress("DEPRECATION")

import java.io.File
import java.time.OffsetDateTime
import org.openapitools.client.apis.*
import org.openapitools.client.infrastructure.ApiClient
import org.openapitools.client.infrastructure.ClientError
import org.openapitools.client.infrastructure.ClientException
import org.openapitools.client.infrastructure.Serializer
import org.openapitools.client.models.*

const val PASSWORD = "correct horse battery staple"
const val MACHINE = "machine-1"

fun main() {
    val baseUrl = System.getenv("BASE_URL")
    val program = ClientApi(baseUrl)
    val developers = DevelopersApi(baseUrl)
    val applications = ApplicationsApi(baseUrl)
    val licenses = LicensesApi(baseUrl)
    val files = FilesApi(baseUrl)

    val email = "dev-${System.nanoTime()}@example.com"
    ApiClient.accessToken = developers.registerDeveloper(RegisterDeveloperRequest(email, PASSWORD)).token
    println("ok register a developer")

    val application = applications.createApplication(CreateApplicationRequest("Aurora"))
    val appId = application.appId
    val secret = application.secret
    println("ok create an application")

    val created = licenses.createLicenses(appId, CreateLicensesRequest(amount = 3, durationDays = 30, tier = "Pro"))
    val lifetime = licenses.createLicenses(appId, CreateLicensesRequest(amount = 1, tier = "Pro", lifetime = true))
    check(lifetime.licenses.single().durationDays == null)
    val keys = (created.licenses + lifetime.licenses).map { it.licenseKey }.toSet()
    check(keys.size == 4)
    println("ok create license keys")

    check(program.initApplication(InitApplicationRequest(appId, secret)).appName == "Aurora")
    println("ok initialize the program")

    val registration = RegisterUserRequest(
        appId = appId,
        secret = secret,
        username = "ada",
        password = PASSWORD,
        hwid = MACHINE,
        licenseKey = created.licenses[0].licenseKey,
    )
    program.registerUser(registration)
    println("ok register a user")

    val login = LoginUserRequest(appId, secret, "ada", PASSWORD, MACHINE)
    val session = program.loginUser(login)
    check(session.user?.username == "ada")
    println("ok log in")

    val verification = VerifySessionV2Request(appId, session.token)
    val verified = program.verifySessionV2(verification)
    val expiry: OffsetDateTime? = verified.expiry
    check(verified.valid && verified.username == "ada" && verified.subscriptionTier == "Pro")
    check(expiry != null && expiry.isAfter(application.createdAt))
    println("ok verify the session")

    val refusal = problem { program.loginUser(login.copy(password = "wrong")) }
    check(refusal.status == 401 && refusal.code == "INVALID_CREDENTIALS" && !refusal.hint.isNullOrEmpty())
    println("ok read a problem")

    val invalid = problem { program.registerUser(registration.copy(hwid = "", password = "")) }
    check(invalid.code == "VALIDATION_FAILED")
    check(invalid.errors?.map { it.pointer }?.toSet() == setOf("/hwid", "/password"))
    println("ok read a validation problem")

    val listed = mutableListOf<License>()
    var cursor: String? = null
    do {
        val page = licenses.listLicenses(appId, limit = 2, cursor = cursor)
        listed += page.data
        cursor = page.nextCursor
    } while (cursor != null)
    check(listed.size == 4 && listed.map { it.licenseKey }.toSet() == keys)
    check(listed.first { it.status == LicenseStatus.unused }.redeemedBy == null)
    println("ok list pages")

    val csv = licenses.exportLicenses(appId)
    check(keys.all { it in csv.readText() })
    println("ok export CSV")

    val second = applications.createApplication(CreateApplicationRequest("Borealis"))
    check(licenses.importLicenses(second.appId, csv).imported == 4)
    println("ok import CSV")

    val content = byteArrayOf('a'.code.toByte(), 0, 'b'.code.toByte(), -1)
    val setup = File.createTempFile("setup", ".bin")
    setup.writeBytes(content)
    check(files.uploadFile(appId, "setup.bin", setup).propertySize == 4L)
    setup.delete()
    println("ok upload a file")

    check(files.downloadFile(appId, "setup.bin").readBytes().contentEquals(content))
    println("ok download a file")

    program.logoutUser(LogoutUserRequest(appId, session.token))
    val ended = problem { program.verifySessionV2(verification) }
    check(ended.status == 401 && ended.code == "SESSION_INVALID")
    println("ok log out")
}

/** The problem of a request that must fail. The client leaves it as text. */
fun problem(request: () -> Unit): ProblemDetails {
    try {
        request()
    } catch (exception: ClientException) {
        val body = (exception.response as ClientError<*>).body as String
        return Serializer.moshi.adapter(ProblemDetails::class.java).fromJson(body)!!
    }
    error("The request did not fail.")
}
