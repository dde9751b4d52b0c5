// The v1 login, which is deprecated, has to work as well.
#![allow(deprecated)]

use std::collections::BTreeSet;
use std::{env, fs, process};

use openapi::apis::client_api::{self, LoginUserError, RegisterUserError, VerifySessionV2Error};
use openapi::apis::configuration::Configuration;
use openapi::apis::{Error, applications_api, developers_api, files_api, licenses_api};
use openapi::models::*;

type Failure = Box<dyn std::error::Error>;

const PASSWORD: &str = "correct horse battery staple";
const MACHINE: &str = "machine-1";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let program = Configuration {
        base_path: env::var("BASE_URL")?,
        ..Configuration::default()
    };

    let email = format!("dev-{}@example.com", process::id());
    let request = RegisterDeveloperRequest::new(email, PASSWORD.to_string());
    let developer = developers_api::register_developer(&program, request, None).await?;
    let dashboard = Configuration {
        bearer_access_token: Some(developer.token),
        ..program.clone()
    };
    println!("ok register a developer");

    let request = CreateApplicationRequest::new("Aurora".to_string());
    let CreateApplicationResult { app_id, secret, .. } =
        applications_api::create_application(&dashboard, request, None).await?;
    println!("ok create an application");

    let request = CreateLicensesRequest {
        duration_days: Some(Some(30)),
        ..CreateLicensesRequest::new(3, "Pro".to_string())
    };
    let created = licenses_api::create_licenses(&dashboard, &app_id, request, None).await?;
    let request = CreateLicensesRequest {
        lifetime: Some(true),
        ..CreateLicensesRequest::new(1, "Pro".to_string())
    };
    let lifetime = licenses_api::create_licenses(&dashboard, &app_id, request, None).await?;
    assert_eq!(lifetime.licenses[0].duration_days, None);
    let keys: BTreeSet<String> = created
        .licenses
        .iter()
        .chain(&lifetime.licenses)
        .map(|license| license.license_key.clone())
        .collect();
    assert_eq!(keys.len(), 4);
    println!("ok create license keys");

    let request = InitApplicationRequest::new(app_id.clone(), secret.clone());
    let initialized = client_api::init_application(&program, request).await?;
    assert_eq!(initialized.app_name.as_deref(), Some("Aurora"));
    println!("ok initialize the program");

    let registration = RegisterUserRequest {
        license_key: Some(created.licenses[0].license_key.clone()),
        ..RegisterUserRequest::new(
            app_id.clone(),
            secret.clone(),
            "ada".to_string(),
            PASSWORD.to_string(),
            MACHINE.to_string(),
        )
    };
    client_api::register_user(&program, registration.clone(), None).await?;
    println!("ok register a user");

    let login = LoginUserRequest::new(
        app_id.clone(),
        secret.clone(),
        "ada".to_string(),
        PASSWORD.to_string(),
        MACHINE.to_string(),
    );
    let session = client_api::login_user(&program, login.clone()).await?;
    assert_eq!(
        session.user.and_then(|user| user.username).as_deref(),
        Some("ada")
    );
    println!("ok log in");

    let verification = VerifySessionV2Request::new(app_id.clone(), session.token.clone());
    let verified =
        client_api::verify_session_v2(&program, verification.clone(), None, None, None).await?;
    assert!(verified.valid);
    assert_eq!(verified.username.as_deref(), Some("ada"));
    assert_eq!(verified.subscription_tier.as_deref(), Some("Pro"));
    assert!(
        verified
            .expiry
            .is_some_and(|expiry| expiry > chrono::DateTime::UNIX_EPOCH)
    );
    println!("ok verify the session");

    let request = LoginUserRequest {
        password: "wrong".to_string(),
        ..login
    };
    let Some(LoginUserError::Status4XX(problem)) =
        problem(client_api::login_user(&program, request).await)?
    else {
        return Err("The login did not fail with a problem.".into());
    };
    assert_eq!(
        (problem.status, problem.code.as_deref()),
        (401, Some("INVALID_CREDENTIALS"))
    );
    assert!(problem.hint.is_some_and(|hint| !hint.is_empty()));
    println!("ok read a problem");

    let request = RegisterUserRequest {
        hwid: String::new(),
        password: String::new(),
        ..registration
    };
    let registered = client_api::register_user(&program, request, None).await;
    let Some(RegisterUserError::Status4XX(problem)) = self::problem(registered)? else {
        return Err("The registration did not fail with a problem.".into());
    };
    assert_eq!(problem.code.as_deref(), Some("VALIDATION_FAILED"));
    let pointers: BTreeSet<String> = problem
        .errors
        .unwrap_or_default()
        .into_iter()
        .map(|error| error.pointer)
        .collect();
    assert_eq!(
        pointers,
        BTreeSet::from(["/hwid".to_string(), "/password".to_string()])
    );
    println!("ok read a validation problem");

    let mut listed = Vec::new();
    let mut cursor = None;
    loop {
        let cursor_of_page = cursor.as_deref();
        let page = licenses_api::list_licenses(
            &dashboard,
            &app_id,
            None,
            None,
            None,
            None,
            Some(2),
            cursor_of_page,
        )
        .await?;
        listed.extend(page.data);
        if page.next_cursor.is_none() {
            break;
        }
        cursor = page.next_cursor;
    }
    assert_eq!(listed.len(), 4);
    assert_eq!(
        listed
            .iter()
            .map(|license| license.license_key.clone())
            .collect::<BTreeSet<_>>(),
        keys
    );
    let unused = listed
        .iter()
        .find(|license| license.status == LicenseStatus::Unused)
        .expect("an unused key");
    assert_eq!(unused.redeemed_by, None);
    println!("ok list pages");

    let csv = licenses_api::export_licenses(&dashboard, &app_id, None, None, None, None)
        .await?
        .text()
        .await?;
    assert!(keys.iter().all(|key| csv.contains(key)));
    println!("ok export CSV");

    // The client reads the bodies that are not JSON from files.
    let folder = env::temp_dir();
    let request = CreateApplicationRequest::new("Borealis".to_string());
    let second = applications_api::create_application(&dashboard, request, None).await?;
    let path = folder.join(format!("licenses-{}.csv", process::id()));
    fs::write(&path, &csv)?;
    let imported =
        licenses_api::import_licenses(&dashboard, &second.app_id, path.clone(), None).await?;
    fs::remove_file(path)?;
    assert_eq!(imported.imported, 4);
    println!("ok import CSV");

    let content = b"a\0b\xff";
    let path = folder.join(format!("setup-{}.bin", process::id()));
    fs::write(&path, content)?;
    let file = files_api::upload_file(
        &dashboard,
        &app_id,
        "setup.bin",
        path.clone(),
        None,
        None,
        None,
        None,
    )
    .await?;
    fs::remove_file(path)?;
    assert_eq!(file.size, 4);
    println!("ok upload a file");

    let downloaded =
        files_api::download_file(&dashboard, &app_id, "setup.bin", None, None, None).await?;
    assert_eq!(downloaded.bytes().await?, content.as_slice());
    println!("ok download a file");

    client_api::logout_user(&program, LogoutUserRequest::new(app_id, session.token)).await?;
    let verified = client_api::verify_session_v2(&program, verification, None, None, None).await;
    let Some(VerifySessionV2Error::Status4XX(problem)) = self::problem(verified)? else {
        return Err("The verification did not fail with a problem.".into());
    };
    assert_eq!(
        (problem.status, problem.code.as_deref()),
        (401, Some("SESSION_INVALID"))
    );
    println!("ok log out");
    Ok(())
}

/// The decoded body of a failed request.
fn problem<T, E: std::fmt::Debug + 'static>(
    result: Result<T, Error<E>>,
) -> Result<Option<E>, Failure> {
    match result {
        Err(Error::ResponseError(response)) => Ok(response.entity),
        Err(error) => Err(error.into()),
        Ok(_) => Err("The request did not fail.".into()),
    }
}
