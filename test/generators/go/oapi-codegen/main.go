// The flow with the client that oapi-codegen generates.
package main

import (
	"bytes"
	"context"
	"net/http"
	"strings"

	"consumer/flow"
	latchkey "consumer/oapi-codegen/client"

	"github.com/oapi-codegen/runtime/types"
)

func main() {
	ctx := context.Background()
	anonymous, err := latchkey.NewClientWithResponses(flow.BaseURL)
	flow.Check(err)

	registered, err := anonymous.RegisterDeveloperWithResponse(ctx, nil, latchkey.RegisterDeveloperRequest{
		Email:    types.Email(flow.Email()),
		Password: "correct horse battery staple",
	})
	flow.Check(err)
	flow.Require(registered.JSON201 != nil, "registerDeveloper: %s", registered.Body)
	flow.Done("register a developer")

	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+registered.JSON201.Token)
		return nil
	}
	client, err := latchkey.NewClientWithResponses(flow.BaseURL, latchkey.WithRequestEditorFn(authorize))
	flow.Check(err)

	created, err := client.CreateApplicationWithResponse(ctx, nil, latchkey.CreateApplicationRequest{Name: "Aurora"})
	flow.Check(err)
	flow.Require(created.JSON201 != nil, "createApplication: %s", created.Body)
	appId, secret := created.JSON201.AppId, created.JSON201.Secret
	flow.Done("create an application")

	days, isLifetime := 30, true
	licenses, err := client.CreateLicensesWithResponse(ctx, appId, nil, latchkey.CreateLicensesRequest{
		Amount:       3,
		DurationDays: &days,
		Tier:         "Pro",
	})
	flow.Check(err)
	flow.Require(licenses.JSON201 != nil, "createLicenses: %s", licenses.Body)
	lifetime, err := client.CreateLicensesWithResponse(ctx, appId, nil, latchkey.CreateLicensesRequest{
		Amount:   1,
		Lifetime: &isLifetime,
		Tier:     "Pro",
	})
	flow.Check(err)
	flow.Require(lifetime.JSON201 != nil, "createLicenses: %s", lifetime.Body)
	flow.Require(lifetime.JSON201.Licenses[0].Lifetime, "the key does not last a lifetime")
	flow.Done("create license keys")

	initialized, err := client.InitApplicationWithResponse(ctx, latchkey.InitApplicationRequest{
		AppId:  appId,
		Secret: secret,
	})
	flow.Check(err)
	flow.Require(initialized.JSON200 != nil, "initApplication: %s", initialized.Body)
	flow.Done("initialize the program")

	user, err := client.RegisterUserWithResponse(ctx, nil, latchkey.RegisterUserRequest{
		AppId:      appId,
		Secret:     secret,
		Username:   "ada",
		Password:   "correct horse battery staple",
		Hwid:       "machine-1",
		LicenseKey: &licenses.JSON201.Licenses[0].LicenseKey,
	})
	flow.Check(err)
	flow.Require(user.JSON201 != nil, "registerUser: %s", user.Body)
	flow.Done("register a user")

	login := latchkey.LoginUserRequest{
		AppId:    appId,
		Secret:   secret,
		Username: "ada",
		Password: "correct horse battery staple",
		Hwid:     "machine-1",
	}
	session, err := client.LoginUserWithResponse(ctx, login)
	flow.Check(err)
	flow.Require(session.JSON200 != nil, "loginUser: %s", session.Body)
	flow.Require(*session.JSON200.User.Username == "ada", "another user: %v", session.JSON200.User)
	flow.Done("log in")

	verification := latchkey.VerifySessionV2Request{AppId: appId, Token: session.JSON200.Token}
	verified, err := client.VerifySessionV2WithResponse(ctx, nil, verification)
	flow.Check(err)
	flow.Require(verified.JSON200 != nil && verified.JSON200.Valid, "verifySessionV2: %s", verified.Body)
	flow.Require(*verified.JSON200.Username == "ada", "another user: %s", *verified.JSON200.Username)
	flow.Require(*verified.JSON200.SubscriptionTier == "Pro", "another tier: %s", *verified.JSON200.SubscriptionTier)
	flow.Require(verified.JSON200.Expiry.Year() > 2000, "another time: %s", verified.JSON200.Expiry)
	flow.Done("verify the session")

	login.Password = "wrong"
	refused, err := client.LoginUserWithResponse(ctx, login)
	flow.Check(err)
	problem := refused.ApplicationproblemJSON4XX
	flow.Require(problem != nil, "no problem: %s", refused.Body)
	flow.Require(problem.Status == 401 && *problem.Code == "INVALID_CREDENTIALS", "another problem: %s", refused.Body)
	flow.Require(*problem.Hint != "", "no hint: %s", refused.Body)
	flow.Done("read a problem")

	invalid, err := client.RegisterUserWithResponse(ctx, nil, latchkey.RegisterUserRequest{
		AppId:    appId,
		Secret:   secret,
		Username: "grace",
	})
	flow.Check(err)
	problem = invalid.ApplicationproblemJSON4XX
	flow.Require(problem != nil && *problem.Code == "VALIDATION_FAILED", "another problem: %s", invalid.Body)
	pointers := map[string]bool{}
	for _, each := range *problem.Errors {
		pointers[each.Pointer] = true
	}
	flow.Require(pointers["/password"] && pointers["/hwid"], "other pointers: %v", pointers)
	flow.Done("read a validation problem")

	keys := map[string]bool{}
	limit := 2
	unused := 0
	for cursor := (*string)(nil); ; {
		page, err := client.ListLicensesWithResponse(ctx, appId, &latchkey.ListLicensesParams{
			Limit:  &limit,
			Cursor: cursor,
		})
		flow.Check(err)
		flow.Require(page.JSON200 != nil, "listLicenses: %s", page.Body)
		for _, license := range page.JSON200.Data {
			flow.Require(!keys[license.LicenseKey], "listed twice: %s", license.LicenseKey)
			keys[license.LicenseKey] = true
			if license.RedeemedBy == nil {
				unused++
			}
		}
		if cursor = page.JSON200.NextCursor; cursor == nil {
			break
		}
	}
	flow.Require(len(keys) == 4 && unused == 3, "%d keys, %d of them unused", len(keys), unused)
	flow.Done("list pages")

	exported, err := client.ExportLicensesWithResponse(ctx, appId, nil)
	flow.Check(err)
	flow.Require(exported.StatusCode() == http.StatusOK, "exportLicenses: %s", exported.Body)
	for key := range keys {
		flow.Require(strings.Contains(string(exported.Body), key), "not exported: %s", key)
	}
	flow.Done("export CSV")

	second, err := client.CreateApplicationWithResponse(ctx, nil, latchkey.CreateApplicationRequest{Name: "Borealis"})
	flow.Check(err)
	flow.Require(second.JSON201 != nil, "createApplication: %s", second.Body)
	imported, err := client.ImportLicensesWithBodyWithResponse(
		ctx, second.JSON201.AppId, nil, "application/octet-stream", bytes.NewReader(exported.Body),
	)
	flow.Check(err)
	flow.Require(imported.JSON201 != nil, "importLicenses: %s", imported.Body)
	flow.Require(imported.JSON201.Imported == 4, "imported %d keys", imported.JSON201.Imported)
	flow.Done("import CSV")

	uploaded, err := client.UploadFileWithBodyWithResponse(
		ctx, appId, "setup.exe", nil, "application/octet-stream", bytes.NewReader(flow.Content),
	)
	flow.Check(err)
	flow.Require(uploaded.JSON200 != nil, "uploadFile: %s", uploaded.Body)
	flow.Require(uploaded.JSON200.Size == int64(len(flow.Content)), "another size: %d", uploaded.JSON200.Size)
	flow.Done("upload a file")

	downloaded, err := client.DownloadFileWithResponse(ctx, appId, "setup.exe", nil)
	flow.Check(err)
	flow.Require(bytes.Equal(downloaded.Body, flow.Content), "another file: %q", downloaded.Body)
	flow.Done("download a file")

	loggedOut, err := client.LogoutUserWithResponse(ctx, latchkey.LogoutUserRequest{
		AppId: appId,
		Token: session.JSON200.Token,
	})
	flow.Check(err)
	flow.Require(loggedOut.JSON200 != nil, "logoutUser: %s", loggedOut.Body)
	ended, err := client.VerifySessionV2WithResponse(ctx, nil, verification)
	flow.Check(err)
	problem = ended.ApplicationproblemJSON4XX
	flow.Require(problem != nil && *problem.Code == "SESSION_INVALID", "another problem: %s", ended.Body)
	flow.Done("log out")
}
