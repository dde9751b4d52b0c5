// The flow with the client that ogen generates.
package main

import (
	"bytes"
	"context"
	"io"
	"strings"

	"consumer/flow"
	latchkey "consumer/ogen/client"
)

// security is the bearer token, once there is one.
type security struct{ token string }

func (s *security) BearerToken(context.Context, latchkey.OperationName) (latchkey.BearerToken, error) {
	return latchkey.BearerToken{Token: s.token}, nil
}

// expect returns the response of an operation, which must be of this type.
func expect[Response any](response any, err error) Response {
	flow.Check(err)
	expected, ok := response.(Response)
	flow.Require(ok, "unexpected response: %+v", response)
	return expected
}

func main() {
	ctx := context.Background()
	developer := &security{}
	client, err := latchkey.NewClient(flow.BaseURL, developer)
	flow.Check(err)

	registered := expect[*latchkey.DeveloperSessionResultHeaders](
		client.RegisterDeveloper(ctx, &latchkey.RegisterDeveloperRequest{
			Email:    latchkey.Email(flow.Email()),
			Password: "correct horse battery staple",
		}, latchkey.RegisterDeveloperParams{}),
	)
	developer.token = registered.Response.Token
	flow.Done("register a developer")

	application := &latchkey.CreateApplicationRequest{Name: "Aurora"}
	created := expect[*latchkey.CreateApplicationResultHeaders](
		client.CreateApplication(ctx, application, latchkey.CreateApplicationParams{}),
	)
	appID := latchkey.AppId(created.Response.AppID)
	path := latchkey.Identifier(appID)
	secret := latchkey.AppSecret(created.Response.Secret)
	flow.Done("create an application")

	licenses := expect[*latchkey.CreateLicensesResultHeaders](
		client.CreateLicenses(ctx, &latchkey.CreateLicensesRequest{
			Amount:       3,
			DurationDays: latchkey.NewOptNilInt(30),
			Tier:         "Pro",
		}, latchkey.CreateLicensesParams{AppID: path}),
	)
	lifetime := expect[*latchkey.CreateLicensesResultHeaders](
		client.CreateLicenses(ctx, &latchkey.CreateLicensesRequest{
			Amount:   1,
			Lifetime: latchkey.NewOptBool(true),
			Tier:     "Pro",
		}, latchkey.CreateLicensesParams{AppID: path}),
	)
	flow.Require(lifetime.Response.Licenses[0].Lifetime, "the key does not last a lifetime")
	flow.Done("create license keys")

	expect[*latchkey.InitApplicationResultHeaders](
		client.InitApplication(ctx, &latchkey.InitApplicationRequest{AppID: appID, Secret: secret}),
	)
	flow.Done("initialize the program")

	expect[*latchkey.RegisterUserResultHeaders](
		client.RegisterUser(ctx, &latchkey.RegisterUserRequest{
			AppID:      appID,
			Secret:     secret,
			Username:   "ada",
			Password:   "correct horse battery staple",
			Hwid:       "machine-1",
			LicenseKey: latchkey.NewOptLicenseKey(latchkey.LicenseKey(licenses.Response.Licenses[0].LicenseKey)),
		}, latchkey.RegisterUserParams{}),
	)
	flow.Done("register a user")

	login := &latchkey.LoginUserRequest{
		AppID:    appID,
		Secret:   secret,
		Username: "ada",
		Password: "correct horse battery staple",
		Hwid:     "machine-1",
	}
	session := expect[*latchkey.LoginUserResultHeaders](client.LoginUser(ctx, login))
	user := session.Response.User.Value
	flow.Require(user.Username.Value == "ada", "another user: %+v", user)
	flow.Done("log in")

	verification := &latchkey.VerifySessionV2Request{
		AppID: appID,
		Token: latchkey.SessionToken(session.Response.Token),
	}
	verified := expect[*latchkey.VerifySessionV2ResultHeaders](
		client.VerifySessionV2(ctx, verification, latchkey.VerifySessionV2Params{}),
	)
	flow.Require(verified.Response.Valid, "the session is not valid: %+v", verified)
	flow.Require(verified.Response.Username.Value == "ada", "another user: %+v", verified)
	flow.Require(verified.Response.SubscriptionTier.Value == "Pro", "another tier: %+v", verified)
	flow.Require(verified.Response.Expiry.Value.Year() > 2000, "another time: %+v", verified)
	flow.Done("verify the session")

	login.Password = "wrong"
	problem := expect[*latchkey.ProblemStatusCodeWithHeaders](client.LoginUser(ctx, login)).Response
	flow.Require(problem.Status == 401, "another status: %+v", problem)
	flow.Require(problem.Code.Value == "INVALID_CREDENTIALS", "another problem: %+v", problem)
	flow.Require(problem.Hint.Value != "", "no hint: %+v", problem)
	flow.Done("read a problem")

	problem = expect[*latchkey.ProblemStatusCodeWithHeaders](
		client.RegisterUser(ctx, &latchkey.RegisterUserRequest{
			AppID:    appID,
			Secret:   secret,
			Username: "grace",
		}, latchkey.RegisterUserParams{}),
	).Response
	flow.Require(problem.Code.Value == "VALIDATION_FAILED", "another problem: %+v", problem)
	pointers := map[string]bool{}
	for _, each := range problem.Errors {
		pointers[each.Pointer] = true
	}
	flow.Require(pointers["/password"] && pointers["/hwid"], "other pointers: %v", pointers)
	flow.Done("read a validation problem")

	keys := map[string]bool{}
	unused := 0
	pages := latchkey.ListLicensesParams{AppID: path, Limit: latchkey.NewOptInt(2)}
	for {
		page := expect[*latchkey.LicenseListHeaders](client.ListLicenses(ctx, pages))
		for _, license := range page.Response.Data {
			flow.Require(!keys[license.LicenseKey], "listed twice: %s", license.LicenseKey)
			keys[license.LicenseKey] = true
			if license.RedeemedBy.Null {
				unused++
			}
		}
		cursor, ok := page.Response.NextCursor.Get()
		if !ok {
			break
		}
		pages.Cursor.SetTo(latchkey.Cursor(cursor))
	}
	flow.Require(len(keys) == 4 && unused == 3, "%d keys, %d of them unused", len(keys), unused)
	flow.Done("list pages")

	exported := expect[*latchkey.ExportLicensesOKHeaders](
		client.ExportLicenses(ctx, latchkey.ExportLicensesParams{AppID: path}),
	)
	table, err := io.ReadAll(exported.Response)
	flow.Check(err)
	for key := range keys {
		flow.Require(strings.Contains(string(table), key), "not exported: %s", key)
	}
	flow.Done("export CSV")

	application.Name = "Borealis"
	second := expect[*latchkey.CreateApplicationResultHeaders](
		client.CreateApplication(ctx, application, latchkey.CreateApplicationParams{}),
	)
	imports := latchkey.ImportLicensesParams{AppID: latchkey.Identifier(second.Response.AppID)}
	imported := expect[*latchkey.ImportLicensesResultHeaders](
		client.ImportLicenses(ctx, latchkey.ImportLicensesReq{Data: bytes.NewReader(table)}, imports),
	)
	flow.Require(imported.Response.Imported == 4, "imported %d keys", imported.Response.Imported)
	flow.Done("import CSV")

	uploads := latchkey.UploadFileParams{AppID: path, FileName: "setup.exe"}
	uploaded := expect[*latchkey.HostedFileResultHeaders](
		client.UploadFile(ctx, latchkey.UploadFileReq{Data: bytes.NewReader(flow.Content)}, uploads),
	)
	flow.Require(uploaded.Response.Size == int64(len(flow.Content)), "another size: %d", uploaded.Response.Size)
	flow.Done("upload a file")

	downloaded := expect[*latchkey.FileContentHeaders](
		client.DownloadFile(ctx, latchkey.DownloadFileParams{AppID: path, FileName: "setup.exe"}),
	)
	content, err := io.ReadAll(downloaded.Response)
	flow.Check(err)
	flow.Require(bytes.Equal(content, flow.Content), "another file: %q", content)
	flow.Done("download a file")

	expect[*latchkey.MessageResultHeaders](
		client.LogoutUser(ctx, &latchkey.LogoutUserRequest{
			AppID: appID,
			Token: latchkey.SessionToken(session.Response.Token),
		}),
	)
	problem = expect[*latchkey.ProblemStatusCodeWithHeaders](
		client.VerifySessionV2(ctx, verification, latchkey.VerifySessionV2Params{}),
	).Response
	flow.Require(problem.Code.Value == "SESSION_INVALID", "another problem: %+v", problem)
	flow.Done("log out")
}
