import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.ApplicationsApi;
import org.openapitools.client.api.ClientApi;
import org.openapitools.client.api.DevelopersApi;
import org.openapitools.client.api.FilesApi;
import org.openapitools.client.api.LicensesApi;
import org.openapitools.client.model.CreateApplicationRequest;
import org.openapitools.client.model.CreateLicensesRequest;
import org.openapitools.client.model.InitApplicationRequest;
import org.openapitools.client.model.LoginUserRequest;
import org.openapitools.client.model.LogoutUserRequest;
import org.openapitools.client.model.ProblemDetails;
import org.openapitools.client.model.RegisterDeveloperRequest;
import org.openapitools.client.model.RegisterUserRequest;
import org.openapitools.client.model.ValidationProblem;
import org.openapitools.client.model.VerifySessionV2Request;

/** The flow with the client that openapi-generator generates. */
public class Flow {
  private static final String PASSWORD = "correct horse battery staple";

  public static void main(String[] args) throws Exception {
    var connection = new ApiClient().setBasePath(System.getenv("BASE_URL"));
    var developers = new DevelopersApi(connection);
    var applications = new ApplicationsApi(connection);
    var licenses = new LicensesApi(connection);
    var files = new FilesApi(connection);
    var client = new ClientApi(connection);

    var email = "dev-" + UUID.randomUUID() + "@example.com";
    var developer =
        developers.registerDeveloper(new RegisterDeveloperRequest().email(email).password(PASSWORD), null);
    connection.setBearerToken(developer.getToken());
    done("register a developer");

    var application = applications.createApplication(new CreateApplicationRequest().name("Aurora"), null);
    var appId = application.getAppId();
    var secret = application.getSecret();
    done("create an application");

    var created =
        licenses.createLicenses(
            appId, new CreateLicensesRequest().amount(3).durationDays(30).tier("Pro"), null);
    var lifetime =
        licenses.createLicenses(
            appId, new CreateLicensesRequest().amount(1).lifetime(true).tier("Pro"), null);
    require(lifetime.getLicenses().get(0).getLifetime(), "the key does not last a lifetime");
    done("create license keys");

    client.initApplication(new InitApplicationRequest().appId(appId).secret(secret));
    done("initialize the program");

    client.registerUser(
        new RegisterUserRequest()
            .appId(appId)
            .secret(secret)
            .username("ada")
            .password(PASSWORD)
            .hwid("machine-1")
            .licenseKey(created.getLicenses().get(0).getLicenseKey()),
        null);
    done("register a user");

    var login =
        new LoginUserRequest()
            .appId(appId)
            .secret(secret)
            .username("ada")
            .password(PASSWORD)
            .hwid("machine-1");
    var session = client.loginUser(login);
    require(session.getUser().getUsername().equals("ada"), "another user: " + session.getUser());
    done("log in");

    var verification = new VerifySessionV2Request().appId(appId).token(session.getToken());
    var verified = client.verifySessionV2(verification, null, null, null);
    require(verified.getValid(), "the session is not valid: " + verified);
    require("ada".equals(verified.getUsername()), "another user: " + verified);
    require("Pro".equals(verified.getSubscriptionTier()), "another tier: " + verified);
    require(verified.getExpiry().getYear() > 2000, "another time: " + verified);
    done("verify the session");

    var refused = expectProblem(() -> client.loginUser(login.password("wrong")));
    require(refused.getStatus() == 401, "another status: " + refused);
    require("INVALID_CREDENTIALS".equals(refused.getCode()), "another problem: " + refused);
    require(!refused.getHint().isEmpty(), "no hint: " + refused);
    done("read a problem");

    var invalid =
        expectProblem(
            () ->
                client.registerUser(
                    new RegisterUserRequest()
                        .appId(appId)
                        .secret(secret)
                        .username("grace")
                        .password("")
                        .hwid(""),
                    null));
    require("VALIDATION_FAILED".equals(invalid.getCode()), "another problem: " + invalid);
    var pointers = invalid.getErrors().stream().map(ValidationProblem::getPointer).toList();
    require(pointers.containsAll(List.of("/password", "/hwid")), "other pointers: " + pointers);
    done("read a validation problem");

    Set<String> keys = new HashSet<>();
    var unused = 0;
    String cursor = null;
    do {
      var page = licenses.listLicenses(appId, null, null, null, null, 2, cursor);
      for (var license : page.getData()) {
        require(keys.add(license.getLicenseKey()), "listed twice: " + license);
        if (license.getRedeemedBy() == null) {
          unused++;
        }
      }
      cursor = page.getNextCursor();
    } while (cursor != null);
    require(keys.size() == 4 && unused == 3, keys.size() + " keys, " + unused + " of them unused");
    done("list pages");

    var table = licenses.exportLicenses(appId, null, null, null, null);
    var text = Files.readString(table.toPath());
    for (var key : keys) {
      require(text.contains(key), "not exported: " + key);
    }
    done("export CSV");

    var second = applications.createApplication(new CreateApplicationRequest().name("Borealis"), null);
    var imported = licenses.importLicenses(second.getAppId(), table, null);
    require(imported.getImported() == 4, "imported " + imported);
    done("import CSV");

    var content = "MZ\0\u00ff\0latchkey\r\n".getBytes(StandardCharsets.ISO_8859_1);
    var file = File.createTempFile("setup", ".exe");
    Files.write(file.toPath(), content);
    var uploaded = files.uploadFile(appId, "setup.exe", file, null, null, null, null);
    require(uploaded.getSize() == content.length, "another size: " + uploaded);
    done("upload a file");

    var downloaded = files.downloadFile(appId, "setup.exe", null, null, null);
    require(Arrays.equals(Files.readAllBytes(downloaded.toPath()), content), "another file");
    done("download a file");

    client.logoutUser(new LogoutUserRequest().appId(appId).token(session.getToken()));
    var ended = expectProblem(() -> client.verifySessionV2(verification, null, null, null));
    require("SESSION_INVALID".equals(ended.getCode()), "another problem: " + ended);
    done("log out");
  }

  /** A call of the service. */
  private interface Call {
    void run() throws ApiException;
  }

  /** The problem that a call must fail with. */
  private static ProblemDetails expectProblem(Call call) throws Exception {
    try {
      call.run();
    } catch (ApiException exception) {
      return ProblemDetails.fromJson(exception.getResponseBody());
    }
    throw new AssertionError("no problem");
  }

  private static void done(String step) {
    System.out.println("ok " + step);
  }

  private static void require(boolean condition, String message) {
    if (!condition) {
      throw new AssertionError(message);
    }
  }
}
