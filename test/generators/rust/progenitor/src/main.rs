use std::collections::BTreeSet;
use std::env;

use futures::TryStreamExt;
use latchkey::types::*;
use latchkey::{ByteStream, Client, Error, ResponseValue};
use reqwest::header::{AUTHORIZATION, HeaderMap};

// Progenitor matches 4XX before 402.
#[allow(unreachable_patterns)]
mod latchkey {
    progenitor::generate_api!("openapi.json");
}

type Failure = Box<dyn std::error::Error>;

const PASSWORD: &str = "correct horse battery staple";
const MACHINE: &str = "machine-1";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let base_url = env::var("BASE_URL")?;
    let program = Client::new(&base_url);

    let request = RegisterDeveloperRequest {
        email: format!("dev-{}@example.com", std::process::id()).parse()?,
        password: PASSWORD.parse()?,
        name: None,
    };
    let developer = program.register_developer(None, &request).await?;
    let dashboard = authorized(&base_url, &developer.token)?;
    println!("ok register a developer");

    let request = CreateApplicationRequest {
        name: "Aurora".parse()?,
    };
    let application = dashboard
        .create_application(None, &request)
        .await?
        .into_inner();
    let app_id: AppId = application.app_id.parse()?;
    let id: Identifier = application.app_id.parse()?;
    let secret: AppSecret = application.secret.parse()?;
    println!("ok create an application");

    let request = CreateLicensesRequest {
        amount: 3.try_into()?,
        duration_days: Some(30.try_into()?),
        lifetime: None,
        tier: "Pro".parse()?,
        mask: None,
        note: None,
        redeem_by: None,
    };
    let created = dashboard
        .create_licenses(&id, None, &request)
        .await?
        .into_inner();
    let request = CreateLicensesRequest {
        amount: 1.try_into()?,
        duration_days: None,
        lifetime: Some(true),
        ..request
    };
    let lifetime = dashboard
        .create_licenses(&id, None, &request)
        .await?
        .into_inner();
    assert_eq!(lifetime.licenses[0].duration_days, None);
    let keys: BTreeSet<String> = created
        .licenses
        .iter()
        .chain(&lifetime.licenses)
        .map(|license| license.license_key.clone())
        .collect();
    assert_eq!(keys.len(), 4);
    println!("ok create license keys");

    let request = InitApplicationRequest {
        app_id: app_id.clone(),
        secret: secret.clone(),
        executable_hash: None,
        version: None,
    };
    assert_eq!(
        program
            .init_application(&request)
            .await?
            .app_name
            .as_deref(),
        Some("Aurora")
    );
    println!("ok initialize the program");

    let registration = RegisterUserRequest {
        app_id: app_id.clone(),
        secret: secret.clone(),
        username: "ada".parse()?,
        password: PASSWORD.parse()?,
        hwid: MACHINE.parse()?,
        license_key: Some(created.licenses[0].license_key.parse()?),
        email: None,
    };
    program.register_user(None, &registration).await?;
    println!("ok register a user");

    let login = LoginUserRequest {
        app_id: app_id.clone(),
        secret: secret.clone(),
        username: "ada".parse()?,
        password: PASSWORD.parse()?,
        hwid: MACHINE.parse()?,
        version: None,
    };
    let session = program.login_user(&login).await?.into_inner();
    assert_eq!(
        session.user.and_then(|user| user.username).as_deref(),
        Some("ada")
    );
    println!("ok log in");

    let verification = VerifySessionV2Request {
        app_id: app_id.clone(),
        token: session.token.parse()?,
        hwid: None,
        nonce: None,
    };
    let verified = program
        .verify_session_v2(None, None, None, &verification)
        .await?
        .into_inner();
    assert!(verified.valid);
    assert_eq!(verified.username.as_deref(), Some("ada"));
    assert_eq!(verified.subscription_tier.as_deref(), Some("Pro"));
    assert!(verified.expiry > Some(chrono::DateTime::UNIX_EPOCH));
    println!("ok verify the session");

    let request = LoginUserRequest {
        password: "wrong".parse()?,
        ..login
    };
    let problem = problem(program.login_user(&request).await).await?;
    assert_eq!(
        (problem.status, problem.code.as_deref()),
        (401, Some(&"INVALID_CREDENTIALS".to_string()))
    );
    assert!(problem.hint.is_some_and(|hint| !hint.is_empty()));
    println!("ok read a problem");

    let request = RegisterUserRequest {
        email: Some("not-an-email@".parse()?),
        ..registration
    };
    let problem = self::problem(program.register_user(None, &request).await).await?;
    assert_eq!(
        problem.code.as_deref(),
        Some(&"VALIDATION_FAILED".to_string())
    );
    assert_eq!(problem.errors.expect("errors").0[0].pointer, "/email");
    println!("ok read a validation problem");

    let mut listed = Vec::new();
    let mut cursor = None;
    loop {
        let limit = Some(2.try_into()?);
        let page = dashboard
            .list_licenses(&id, cursor.as_ref(), limit, None, None, None, None)
            .await?
            .into_inner();
        listed.extend(page.data);
        let Some(next) = page.next_cursor else {
            break;
        };
        cursor = Some(next.parse()?);
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

    let csv = dashboard
        .export_licenses(&id, None, None, None, None)
        .await?;
    let csv = String::from_utf8(read(csv.into_inner()).await?)?;
    assert!(keys.iter().all(|key| csv.contains(key)));
    println!("ok export CSV");

    let request = CreateApplicationRequest {
        name: "Borealis".parse()?,
    };
    let second = dashboard.create_application(None, &request).await?;
    let imported = dashboard
        .import_licenses(&second.app_id.parse()?, None, csv)
        .await?;
    assert_eq!(imported.imported, 4);
    println!("ok import CSV");

    let content = b"a\0b\xff".to_vec();
    let file = dashboard
        .upload_file(
            &id,
            &"setup.bin".parse()?,
            None,
            None,
            None,
            None,
            content.clone(),
        )
        .await?;
    assert_eq!(file.size, 4);
    println!("ok upload a file");

    let downloaded = dashboard
        .download_file(&id, &"setup.bin".parse()?, None, None, None)
        .await?;
    assert_eq!(read(downloaded.into_inner()).await?, content);
    println!("ok download a file");

    let request = LogoutUserRequest {
        app_id: verification.app_id.clone(),
        token: verification.token.clone(),
    };
    program.logout_user(&request).await?;
    let problem = self::problem(
        program
            .verify_session_v2(None, None, None, &verification)
            .await,
    )
    .await?;
    assert_eq!(
        (problem.status, problem.code.as_deref()),
        (401, Some(&"SESSION_INVALID".to_string()))
    );
    println!("ok log out");
    Ok(())
}

/// A client with a developer's token, which progenitor leaves to reqwest.
fn authorized(base_url: &str, token: &str) -> Result<Client, Failure> {
    let headers = HeaderMap::from_iter([(AUTHORIZATION, format!("Bearer {token}").parse()?)]);
    Ok(Client::new_with_client(
        base_url,
        reqwest::Client::builder()
            .default_headers(headers)
            .build()?,
    ))
}

/// Decodes the problem of a failed request. Progenitor decodes bodies of `application/json` only.
async fn problem<T>(
    result: Result<ResponseValue<T>, Error<ByteStream>>,
) -> Result<ProblemDetails, Failure> {
    match result {
        Err(Error::ErrorResponse(response)) => {
            Ok(serde_json::from_slice(&read(response.into_inner()).await?)?)
        }
        Err(error) => Err(error.into()),
        Ok(_) => Err("The request did not fail.".into()),
    }
}

async fn read(mut stream: ByteStream) -> Result<Vec<u8>, reqwest::Error> {
    let mut bytes = Vec::new();
    while let Some(part) = stream.try_next().await? {
        bytes.extend(part);
    }
    Ok(bytes)
}
