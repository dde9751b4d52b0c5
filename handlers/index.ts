// The handlers of all operations, in the order of the contract. `registry.ts` does not compile when one is missing.

export * from './health/getHealth.ts';

export * from './agents/getPaymentChallenge.ts';
export * from './agents/accessAsAgent.ts';
export * from './agents/getAgentToken.ts';
export * from './agents/registerAgent.ts';
export * from './agents/claimAgent.ts';
export * from './agents/revokeAgent.ts';
export * from './agents/listAgents.ts';
export * from './agents/createAgent.ts';
export * from './agents/revokeAllAgents.ts';
export * from './agents/getAgent.ts';
export * from './agents/deleteAgent.ts';
export * from './agents/createSecurityEventReceiver.ts';
export * from './agents/listSecurityEventReceivers.ts';
export * from './agents/deleteSecurityEventReceiver.ts';

export * from './client/loginUserV2.ts';
export * from './client/loginWithLicense.ts';
export * from './client/verifySessionV2.ts';
export * from './client/logoutUserV2.ts';
export * from './client/resetHwid.ts';
export * from './client/initApplicationV2.ts';
export * from './client/registerDevice.ts';
export * from './client/registerUserV2.ts';
export * from './client/loginWithPassword.ts';
export * from './client/activateLicenseV2.ts';
export * from './client/refreshSession.ts';
export * from './client/listKeyStatements.ts';
export * from './client/listClientVariables.ts';
export * from './client/getClientVariable.ts';
export * from './client/listClientFiles.ts';
export * from './client/downloadClientFile.ts';
export * from './client/streamSessionEvents.ts';
export * from './client/initApplication.ts';
export * from './client/registerUser.ts';
export * from './client/loginUser.ts';
export * from './client/verifySession.ts';
export * from './client/activateLicense.ts';
export * from './client/logoutUser.ts';
export * from './client/listPlans.ts';

export * from './sandbox/authenticateSandbox.ts';
export * from './sandbox/verifySandboxSession.ts';

export * from './developers/registerDeveloper.ts';
export * from './developers/loginDeveloper.ts';
export * from './developers/getDeveloper.ts';
export * from './developers/logoutDeveloper.ts';
export * from './developers/createBrowserSession.ts';
export * from './developers/getBrowserSession.ts';
export * from './developers/deleteBrowserSession.ts';
export * from './developers/listDeveloperSessions.ts';
export * from './developers/endDeveloperSessions.ts';
export * from './developers/endDeveloperSession.ts';
export * from './developers/changeDeveloperPassword.ts';
export * from './developers/requestPasswordReset.ts';
export * from './developers/resetDeveloperPassword.ts';

export * from './tokens/createApiToken.ts';
export * from './tokens/listApiTokens.ts';
export * from './tokens/deleteApiToken.ts';

export * from './oauth/createOAuthClient.ts';
export * from './oauth/listOAuthClients.ts';
export * from './oauth/getOAuthClient.ts';
export * from './oauth/updateOAuthClient.ts';
export * from './oauth/deleteOAuthClient.ts';
export * from './oauth/rotateOAuthClientSecret.ts';
export * from './oauth/listAuthorizations.ts';
export * from './oauth/revokeAuthorization.ts';

export * from './audit/listAuditLog.ts';
export * from './audit/exportAuditLog.ts';
export * from './audit/exportAuditLogAsNdjson.ts';

export * from './applications/createApplication.ts';
export * from './applications/listApplications.ts';
export * from './applications/getApplication.ts';
export * from './applications/updateApplication.ts';
export * from './applications/deleteApplication.ts';
export * from './applications/rotateApplicationSecret.ts';
export * from './applications/endSecretOverlap.ts';
export * from './applications/listApplicationSigningKeys.ts';
export * from './applications/rotateApplicationSigningKeys.ts';
export * from './applications/retireApplicationSigningKey.ts';

export * from './licenses/createLicenses.ts';
export * from './licenses/createLicensesAsCsv.ts';
export * from './licenses/listLicenses.ts';
export * from './licenses/deleteUnusedLicenses.ts';
export * from './licenses/extendLicenses.ts';
export * from './licenses/banLicenses.ts';
export * from './licenses/unbanLicenses.ts';
export * from './licenses/pauseLicenses.ts';
export * from './licenses/resumeLicenses.ts';
export * from './licenses/deleteLicenses.ts';
export * from './licenses/importLicenses.ts';
export * from './licenses/exportLicenses.ts';
export * from './licenses/exportLicensesAsNdjson.ts';
export * from './licenses/getLicense.ts';
export * from './licenses/updateLicense.ts';
export * from './licenses/deleteLicense.ts';
export * from './licenses/banLicense.ts';
export * from './licenses/unbanLicense.ts';
export * from './licenses/pauseLicense.ts';
export * from './licenses/resumeLicense.ts';
export * from './licenses/transferLicense.ts';

export * from './users/createUser.ts';
export * from './users/listUsers.ts';
export * from './users/extendUsers.ts';
export * from './users/importUsers.ts';
export * from './users/importUsersFromNdjson.ts';
export * from './users/exportUsers.ts';
export * from './users/exportUsersAsNdjson.ts';
export * from './users/getUser.ts';
export * from './users/updateUser.ts';
export * from './users/deleteUser.ts';
export * from './users/banUser.ts';
export * from './users/unbanUser.ts';
export * from './users/resetUserHwid.ts';
export * from './users/resetUserPassword.ts';
export * from './users/extendUser.ts';
export * from './users/listUserSessions.ts';
export * from './users/endUserSessions.ts';
export * from './users/listSessions.ts';
export * from './users/endSession.ts';
export * from './users/banUsers.ts';
export * from './users/unbanUsers.ts';
export * from './users/deleteUsers.ts';

export * from './bans/createBan.ts';
export * from './bans/listBans.ts';
export * from './bans/deleteBan.ts';

export * from './variables/listVariables.ts';
export * from './variables/setVariable.ts';
export * from './variables/getVariable.ts';
export * from './variables/deleteVariable.ts';
export * from './variables/listUserVariables.ts';
export * from './variables/setUserVariable.ts';
export * from './variables/deleteUserVariable.ts';

export * from './files/listFiles.ts';
export * from './files/uploadFile.ts';
export * from './files/getFile.ts';
export * from './files/updateFile.ts';
export * from './files/deleteFile.ts';
export * from './files/downloadFile.ts';

export * from './resellers/createReseller.ts';
export * from './resellers/listResellers.ts';
export * from './resellers/getReseller.ts';
export * from './resellers/updateReseller.ts';
export * from './resellers/deleteReseller.ts';
export * from './resellers/setResellerPrices.ts';
export * from './resellers/listResellerPrices.ts';
export * from './resellers/creditReseller.ts';
export * from './resellers/debitReseller.ts';
export * from './resellers/listResellerLedger.ts';
export * from './resellers/getResellerStatistics.ts';
export * from './resellers/createResellerToken.ts';
export * from './resellers/listResellerTokens.ts';
export * from './resellers/deleteResellerToken.ts';

export * from './reseller/getOwnReseller.ts';
export * from './reseller/createResellerLicenses.ts';
export * from './reseller/listResellerLicenses.ts';
export * from './reseller/refundResellerLicense.ts';
export * from './reseller/listOwnLedger.ts';
export * from './reseller/getOwnResellerStatistics.ts';
export * from './reseller/listResellerUsers.ts';
export * from './reseller/resetResellerUserHwid.ts';

export * from './events/listEvents.ts';
export * from './events/streamEvents.ts';
export * from './events/listAccountEvents.ts';
export * from './events/streamAccountEvents.ts';

export * from './webhooks/createWebhook.ts';
export * from './webhooks/listWebhooks.ts';
export * from './webhooks/getWebhook.ts';
export * from './webhooks/updateWebhook.ts';
export * from './webhooks/deleteWebhook.ts';
export * from './webhooks/rotateWebhookSecret.ts';
export * from './webhooks/testWebhook.ts';
export * from './webhooks/replayWebhookEvents.ts';
export * from './webhooks/listWebhookDeliveries.ts';
export * from './webhooks/getWebhookDelivery.ts';
export * from './webhooks/replayWebhookDelivery.ts';

export * from './statistics/getStatistics.ts';
export * from './statistics/getApplicationCounts.ts';
export * from './statistics/getOverview.ts';
export * from './statistics/getExpirations.ts';
export * from './search/search.ts';

export * from './billing/createCheckout.ts';
export * from './billing/getCheckout.ts';
export * from './billing/getSubscription.ts';
export * from './billing/updateSubscription.ts';
export * from './billing/listInvoices.ts';
export * from './billing/receivePaymentEvent.ts';

export * from './administration/listAllPlans.ts';
export * from './administration/createPlan.ts';
export * from './administration/getPlan.ts';
export * from './administration/updatePlan.ts';
export * from './administration/archivePlan.ts';
export * from './administration/listAllInvoices.ts';
export * from './administration/refundInvoice.ts';
export * from './administration/listAdministratorAuditLog.ts';
export * from './administration/exportAdministratorAuditLog.ts';
export * from './administration/exportAdministratorAuditLogAsNdjson.ts';
export * from './administration/listDevelopers.ts';
export * from './administration/getDeveloperAccount.ts';
export * from './administration/suspendDeveloper.ts';
export * from './administration/reinstateDeveloper.ts';
export * from './administration/getRevenue.ts';
export * from './administration/getInstallation.ts';
export * from './administration/listSigningKeys.ts';
export * from './administration/rotateSigningKeys.ts';
export * from './administration/removeSigningKey.ts';
