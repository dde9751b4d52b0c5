// The flow with the client that openapi-generator generates.
package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"consumer/flow"
	latchkey "consumer/openapi-generator/client"
)

// expectProblem returns the problem that an operation must fail with.
func expectProblem(err error) latchkey.ProblemDetails {
	var failure *latchkey.GenericOpenAPIError
	flow.Require(errors.As(err, &failure), "no problem: %v", err)
	problem, ok := failure.Model().(latchkey.ProblemDetails)
	flow.Require(ok, "no problem: %s", failure.Body())
	return problem
}

// temporaryFile returns a file with this content, to be read from its start.
func temporaryFile(content []byte) *os.File {
	file, err := os.CreateTemp("", "")
	flow.Check(err)
	_, err = file.Write(content)
	flow.Check(err)
	_, err = file.Seek(0, io.SeekStart)
	flow.Check(err)
	return file
}

func main() {
	configuration := latchkey.NewConfiguration()
	configuration.Servers = latchkey.ServerConfigurations{{URL: flow.BaseURL}}
	client := latchkey.NewAPIClient(configuration)
	anonymous := context.Background()

	registered, _, err := client.DevelopersAPI.RegisterDeveloper(anonymous).
		RegisterDeveloperRequest(*latchkey.NewRegisterDeveloperRequest(flow.Email(), "correct horse battery staple")).
		Execute()
	flow.Check(err)
	ctx := context.WithValue(anonymous, latchkey.ContextAccessToken, registered.Token)
	flow.Done("register a developer")

	created, _, err := client.ApplicationsAPI.CreateApplication(ctx).
		CreateApplicationRequest(*latchkey.NewCreateApplicationRequest("Aurora")).
		Execute()
	flow.Check(err)
	appId, secret := created.AppId, created.Secret
	flow.Done("create an application")

	order := latchkey.NewCreateLicensesRequest(3, "Pro")
	order.SetDurationDays(30)
	licenses, _, err := client.LicensesAPI.CreateLicenses(ctx, appId).CreateLicensesRequest(*order).Execute()
	flow.Check(err)
	order = latchkey.NewCreateLicensesRequest(1, "Pro")
	order.SetLifetime(true)
	lifetime, _, err := client.LicensesAPI.CreateLicenses(ctx, appId).CreateLicensesRequest(*order).Execute()
	flow.Check(err)
	flow.Require(lifetime.Licenses[0].Lifetime, "the key does not last a lifetime")
	flow.Done("create license keys")

	_, _, err = client.ClientAPI.InitApplication(ctx).
		InitApplicationRequest(*latchkey.NewInitApplicationRequest(appId, secret)).
		Execute()
	flow.Check(err)
	flow.Done("initialize the program")

	user := latchkey.NewRegisterUserRequest(appId, secret, "ada", "correct horse battery staple", "machine-1")
	user.SetLicenseKey(licenses.Licenses[0].LicenseKey)
	_, _, err = client.ClientAPI.RegisterUser(ctx).RegisterUserRequest(*user).Execute()
	flow.Check(err)
	flow.Done("register a user")

	login := latchkey.NewLoginUserRequest(appId, secret, "ada", "correct horse battery staple", "machine-1")
	session, _, err := client.ClientAPI.LoginUser(ctx).LoginUserRequest(*login).Execute()
	flow.Check(err)
	flow.Require(session.User.GetUsername() == "ada", "another user: %+v", session.User)
	flow.Done("log in")

	verification := *latchkey.NewVerifySessionV2Request(appId, session.Token)
	verified, _, err := client.ClientAPI.VerifySessionV2(ctx).VerifySessionV2Request(verification).Execute()
	flow.Check(err)
	flow.Require(verified.Valid, "the session is not valid")
	flow.Require(verified.GetUsername() == "ada", "another user: %s", verified.GetUsername())
	flow.Require(verified.GetSubscriptionTier() == "Pro", "another tier: %s", verified.GetSubscriptionTier())
	flow.Require(verified.GetExpiry().Year() > 2000, "another time: %s", verified.GetExpiry())
	flow.Done("verify the session")

	login.Password = "wrong"
	_, _, err = client.ClientAPI.LoginUser(ctx).LoginUserRequest(*login).Execute()
	problem := expectProblem(err)
	flow.Require(problem.Status == 401, "another status: %d", problem.Status)
	flow.Require(problem.GetCode() == "INVALID_CREDENTIALS", "another problem: %s", problem.GetCode())
	flow.Require(problem.GetHint() != "", "no hint")
	flow.Done("read a problem")

	_, _, err = client.ClientAPI.RegisterUser(ctx).
		RegisterUserRequest(*latchkey.NewRegisterUserRequest(appId, secret, "grace", "", "")).
		Execute()
	problem = expectProblem(err)
	flow.Require(problem.GetCode() == "VALIDATION_FAILED", "another problem: %s", problem.GetCode())
	pointers := map[string]bool{}
	for _, each := range problem.Errors {
		pointers[each.Pointer] = true
	}
	flow.Require(pointers["/password"] && pointers["/hwid"], "other pointers: %v", pointers)
	flow.Done("read a validation problem")

	keys := map[string]bool{}
	unused := 0
	pages := client.LicensesAPI.ListLicenses(ctx, appId).Limit(2)
	for {
		page, _, err := pages.Execute()
		flow.Check(err)
		for _, license := range page.Data {
			flow.Require(!keys[license.LicenseKey], "listed twice: %s", license.LicenseKey)
			keys[license.LicenseKey] = true
			if license.RedeemedBy.Get() == nil {
				unused++
			}
		}
		cursor := page.NextCursor.Get()
		if cursor == nil {
			break
		}
		pages = pages.Cursor(*cursor)
	}
	flow.Require(len(keys) == 4 && unused == 3, "%d keys, %d of them unused", len(keys), unused)
	flow.Done("list pages")

	exported, _, err := client.LicensesAPI.ExportLicenses(ctx, appId).Execute()
	flow.Check(err)
	table, err := io.ReadAll(exported)
	flow.Check(err)
	for key := range keys {
		flow.Require(strings.Contains(string(table), key), "not exported: %s", key)
	}
	flow.Done("export CSV")

	second, _, err := client.ApplicationsAPI.CreateApplication(ctx).
		CreateApplicationRequest(*latchkey.NewCreateApplicationRequest("Borealis")).
		Execute()
	flow.Check(err)
	imported, _, err := client.LicensesAPI.ImportLicenses(ctx, second.AppId).
		Body(temporaryFile(table)).
		Execute()
	flow.Check(err)
	flow.Require(imported.Imported == 4, "imported %d keys", imported.Imported)
	flow.Done("import CSV")

	uploaded, _, err := client.FilesAPI.UploadFile(ctx, appId, "setup.exe").
		Body(temporaryFile(flow.Content)).
		Execute()
	flow.Check(err)
	flow.Require(uploaded.Size == int64(len(flow.Content)), "another size: %d", uploaded.Size)
	flow.Done("upload a file")

	downloaded, _, err := client.FilesAPI.DownloadFile(ctx, appId, "setup.exe").Execute()
	flow.Check(err)
	content, err := io.ReadAll(downloaded)
	flow.Check(err)
	flow.Require(bytes.Equal(content, flow.Content), "another file: %q", content)
	flow.Done("download a file")

	_, _, err = client.ClientAPI.LogoutUser(ctx).
		LogoutUserRequest(*latchkey.NewLogoutUserRequest(appId, session.Token)).
		Execute()
	flow.Check(err)
	_, _, err = client.ClientAPI.VerifySessionV2(ctx).VerifySessionV2Request(verification).Execute()
	problem = expectProblem(err)
	flow.Require(problem.GetCode() == "SESSION_INVALID", "another problem: %s", problem.GetCode())
	flow.Done("log out")
}
