import type { Handlers } from './handler.ts';
import { getHealth } from './health/getHealth.ts';
import { getPaymentChallenge } from './agents/getPaymentChallenge.ts';
import { accessAsAgent } from './agents/accessAsAgent.ts';
import { getAgentToken } from './agents/getAgentToken.ts';
import { registerAgent } from './agents/registerAgent.ts';
import { claimAgent } from './agents/claimAgent.ts';
import { revokeAgent } from './agents/revokeAgent.ts';
import { listAgents } from './agents/listAgents.ts';
import { createAgent } from './agents/createAgent.ts';
import { revokeAllAgents } from './agents/revokeAllAgents.ts';
import { getAgent } from './agents/getAgent.ts';
import { deleteAgent } from './agents/deleteAgent.ts';
import { createSecurityEventReceiver } from './agents/createSecurityEventReceiver.ts';
import { listSecurityEventReceivers } from './agents/listSecurityEventReceivers.ts';
import { deleteSecurityEventReceiver } from './agents/deleteSecurityEventReceiver.ts';
import { loginUserV2 } from './client/loginUserV2.ts';
import { loginWithLicense } from './client/loginWithLicense.ts';
import { verifySessionV2 } from './client/verifySessionV2.ts';
import { logoutUserV2 } from './client/logoutUserV2.ts';
import { resetHwid } from './client/resetHwid.ts';
import { listClientVariables } from './client/listClientVariables.ts';
import { getClientVariable } from './client/getClientVariable.ts';
import { listClientFiles } from './client/listClientFiles.ts';
import { downloadClientFile } from './client/downloadClientFile.ts';
import { streamSessionEvents } from './client/streamSessionEvents.ts';
import { initApplication } from './client/initApplication.ts';
import { registerUser } from './client/registerUser.ts';
import { loginUser } from './client/loginUser.ts';
import { verifySession } from './client/verifySession.ts';
import { activateLicense } from './client/activateLicense.ts';
import { logoutUser } from './client/logoutUser.ts';
import { listPlans } from './client/listPlans.ts';
import { authenticateSandbox } from './sandbox/authenticateSandbox.ts';
import { verifySandboxSession } from './sandbox/verifySandboxSession.ts';
import { registerDeveloper } from './developers/registerDeveloper.ts';
import { loginDeveloper } from './developers/loginDeveloper.ts';
import { getDeveloper } from './developers/getDeveloper.ts';
import { logoutDeveloper } from './developers/logoutDeveloper.ts';
import { endDeveloperSessions } from './developers/endDeveloperSessions.ts';
import { changeDeveloperPassword } from './developers/changeDeveloperPassword.ts';
import { requestPasswordReset } from './developers/requestPasswordReset.ts';
import { resetDeveloperPassword } from './developers/resetDeveloperPassword.ts';
import { createApiToken } from './tokens/createApiToken.ts';
import { listApiTokens } from './tokens/listApiTokens.ts';
import { deleteApiToken } from './tokens/deleteApiToken.ts';
import { createOAuthClient } from './oauth/createOAuthClient.ts';
import { listOAuthClients } from './oauth/listOAuthClients.ts';
import { getOAuthClient } from './oauth/getOAuthClient.ts';
import { updateOAuthClient } from './oauth/updateOAuthClient.ts';
import { deleteOAuthClient } from './oauth/deleteOAuthClient.ts';
import { rotateOAuthClientSecret } from './oauth/rotateOAuthClientSecret.ts';
import { listAuthorizations } from './oauth/listAuthorizations.ts';
import { revokeAuthorization } from './oauth/revokeAuthorization.ts';
import { listAuditLog } from './audit/listAuditLog.ts';
import { createApplication } from './applications/createApplication.ts';
import { listApplications } from './applications/listApplications.ts';
import { getApplication } from './applications/getApplication.ts';
import { updateApplication } from './applications/updateApplication.ts';
import { deleteApplication } from './applications/deleteApplication.ts';
import { rotateApplicationSecret } from './applications/rotateApplicationSecret.ts';
import { endSecretOverlap } from './applications/endSecretOverlap.ts';
import { createLicenses } from './licenses/createLicenses.ts';
import { listLicenses } from './licenses/listLicenses.ts';
import { deleteUnusedLicenses } from './licenses/deleteUnusedLicenses.ts';
import { extendLicenses } from './licenses/extendLicenses.ts';
import { importLicenses } from './licenses/importLicenses.ts';
import { exportLicenses } from './licenses/exportLicenses.ts';
import { getLicense } from './licenses/getLicense.ts';
import { updateLicense } from './licenses/updateLicense.ts';
import { deleteLicense } from './licenses/deleteLicense.ts';
import { banLicense } from './licenses/banLicense.ts';
import { unbanLicense } from './licenses/unbanLicense.ts';
import { pauseLicense } from './licenses/pauseLicense.ts';
import { resumeLicense } from './licenses/resumeLicense.ts';
import { transferLicense } from './licenses/transferLicense.ts';
import { createUser } from './users/createUser.ts';
import { listUsers } from './users/listUsers.ts';
import { extendUsers } from './users/extendUsers.ts';
import { importUsers } from './users/importUsers.ts';
import { exportUsers } from './users/exportUsers.ts';
import { getUser } from './users/getUser.ts';
import { updateUser } from './users/updateUser.ts';
import { deleteUser } from './users/deleteUser.ts';
import { banUser } from './users/banUser.ts';
import { unbanUser } from './users/unbanUser.ts';
import { resetUserHwid } from './users/resetUserHwid.ts';
import { resetUserPassword } from './users/resetUserPassword.ts';
import { extendUser } from './users/extendUser.ts';
import { listUserSessions } from './users/listUserSessions.ts';
import { endUserSessions } from './users/endUserSessions.ts';
import { createBan } from './bans/createBan.ts';
import { listBans } from './bans/listBans.ts';
import { deleteBan } from './bans/deleteBan.ts';
import { listVariables } from './variables/listVariables.ts';
import { setVariable } from './variables/setVariable.ts';
import { getVariable } from './variables/getVariable.ts';
import { deleteVariable } from './variables/deleteVariable.ts';
import { listUserVariables } from './variables/listUserVariables.ts';
import { setUserVariable } from './variables/setUserVariable.ts';
import { deleteUserVariable } from './variables/deleteUserVariable.ts';
import { listFiles } from './files/listFiles.ts';
import { uploadFile } from './files/uploadFile.ts';
import { getFile } from './files/getFile.ts';
import { updateFile } from './files/updateFile.ts';
import { deleteFile } from './files/deleteFile.ts';
import { downloadFile } from './files/downloadFile.ts';
import { createReseller } from './resellers/createReseller.ts';
import { listResellers } from './resellers/listResellers.ts';
import { getReseller } from './resellers/getReseller.ts';
import { updateReseller } from './resellers/updateReseller.ts';
import { deleteReseller } from './resellers/deleteReseller.ts';
import { setResellerPrices } from './resellers/setResellerPrices.ts';
import { listResellerPrices } from './resellers/listResellerPrices.ts';
import { creditReseller } from './resellers/creditReseller.ts';
import { debitReseller } from './resellers/debitReseller.ts';
import { listResellerLedger } from './resellers/listResellerLedger.ts';
import { createResellerToken } from './resellers/createResellerToken.ts';
import { listResellerTokens } from './resellers/listResellerTokens.ts';
import { deleteResellerToken } from './resellers/deleteResellerToken.ts';
import { getOwnReseller } from './reseller/getOwnReseller.ts';
import { createResellerLicenses } from './reseller/createResellerLicenses.ts';
import { listResellerLicenses } from './reseller/listResellerLicenses.ts';
import { refundResellerLicense } from './reseller/refundResellerLicense.ts';
import { listOwnLedger } from './reseller/listOwnLedger.ts';
import { listResellerUsers } from './reseller/listResellerUsers.ts';
import { resetResellerUserHwid } from './reseller/resetResellerUserHwid.ts';
import { listEvents } from './events/listEvents.ts';
import { streamEvents } from './events/streamEvents.ts';
import { createWebhook } from './webhooks/createWebhook.ts';
import { listWebhooks } from './webhooks/listWebhooks.ts';
import { getWebhook } from './webhooks/getWebhook.ts';
import { updateWebhook } from './webhooks/updateWebhook.ts';
import { deleteWebhook } from './webhooks/deleteWebhook.ts';
import { rotateWebhookSecret } from './webhooks/rotateWebhookSecret.ts';
import { testWebhook } from './webhooks/testWebhook.ts';
import { replayWebhookEvents } from './webhooks/replayWebhookEvents.ts';
import { listWebhookDeliveries } from './webhooks/listWebhookDeliveries.ts';
import { getWebhookDelivery } from './webhooks/getWebhookDelivery.ts';
import { replayWebhookDelivery } from './webhooks/replayWebhookDelivery.ts';
import { getStatistics } from './statistics/getStatistics.ts';
import { createCheckout } from './billing/createCheckout.ts';
import { getCheckout } from './billing/getCheckout.ts';
import { getSubscription } from './billing/getSubscription.ts';
import { updateSubscription } from './billing/updateSubscription.ts';
import { listInvoices } from './billing/listInvoices.ts';
import { receivePaymentNotice } from './billing/receivePaymentNotice.ts';
import { listAllPlans } from './administration/listAllPlans.ts';
import { createPlan } from './administration/createPlan.ts';
import { getPlan } from './administration/getPlan.ts';
import { updatePlan } from './administration/updatePlan.ts';
import { archivePlan } from './administration/archivePlan.ts';
import { listAllInvoices } from './administration/listAllInvoices.ts';
import { refundInvoice } from './administration/refundInvoice.ts';
import { listAdministratorAuditLog } from './administration/listAdministratorAuditLog.ts';
import { listSigningKeys } from './administration/listSigningKeys.ts';
import { rotateSigningKeys } from './administration/rotateSigningKeys.ts';
import { removeSigningKey } from './administration/removeSigningKey.ts';

/** The only registry: every operation of the contract and its handler, in the contract's order. */
export const handlers: Handlers = {
  getHealth,
  getPaymentChallenge,
  accessAsAgent,
  getAgentToken,
  registerAgent,
  claimAgent,
  revokeAgent,
  listAgents,
  createAgent,
  revokeAllAgents,
  getAgent,
  deleteAgent,
  createSecurityEventReceiver,
  listSecurityEventReceivers,
  deleteSecurityEventReceiver,
  loginUserV2,
  loginWithLicense,
  verifySessionV2,
  logoutUserV2,
  resetHwid,
  listClientVariables,
  getClientVariable,
  listClientFiles,
  downloadClientFile,
  streamSessionEvents,
  initApplication,
  registerUser,
  loginUser,
  verifySession,
  activateLicense,
  logoutUser,
  listPlans,
  authenticateSandbox,
  verifySandboxSession,
  registerDeveloper,
  loginDeveloper,
  getDeveloper,
  logoutDeveloper,
  endDeveloperSessions,
  changeDeveloperPassword,
  requestPasswordReset,
  resetDeveloperPassword,
  createApiToken,
  listApiTokens,
  deleteApiToken,
  createOAuthClient,
  listOAuthClients,
  getOAuthClient,
  updateOAuthClient,
  deleteOAuthClient,
  rotateOAuthClientSecret,
  listAuthorizations,
  revokeAuthorization,
  listAuditLog,
  createApplication,
  listApplications,
  getApplication,
  updateApplication,
  deleteApplication,
  rotateApplicationSecret,
  endSecretOverlap,
  createLicenses,
  listLicenses,
  deleteUnusedLicenses,
  extendLicenses,
  importLicenses,
  exportLicenses,
  getLicense,
  updateLicense,
  deleteLicense,
  banLicense,
  unbanLicense,
  pauseLicense,
  resumeLicense,
  transferLicense,
  createUser,
  listUsers,
  extendUsers,
  importUsers,
  exportUsers,
  getUser,
  updateUser,
  deleteUser,
  banUser,
  unbanUser,
  resetUserHwid,
  resetUserPassword,
  extendUser,
  listUserSessions,
  endUserSessions,
  createBan,
  listBans,
  deleteBan,
  listVariables,
  setVariable,
  getVariable,
  deleteVariable,
  listUserVariables,
  setUserVariable,
  deleteUserVariable,
  listFiles,
  uploadFile,
  getFile,
  updateFile,
  deleteFile,
  downloadFile,
  createReseller,
  listResellers,
  getReseller,
  updateReseller,
  deleteReseller,
  setResellerPrices,
  listResellerPrices,
  creditReseller,
  debitReseller,
  listResellerLedger,
  createResellerToken,
  listResellerTokens,
  deleteResellerToken,
  getOwnReseller,
  createResellerLicenses,
  listResellerLicenses,
  refundResellerLicense,
  listOwnLedger,
  listResellerUsers,
  resetResellerUserHwid,
  listEvents,
  streamEvents,
  createWebhook,
  listWebhooks,
  getWebhook,
  updateWebhook,
  deleteWebhook,
  rotateWebhookSecret,
  testWebhook,
  replayWebhookEvents,
  listWebhookDeliveries,
  getWebhookDelivery,
  replayWebhookDelivery,
  getStatistics,
  createCheckout,
  getCheckout,
  getSubscription,
  updateSubscription,
  listInvoices,
  receivePaymentNotice,
  listAllPlans,
  createPlan,
  getPlan,
  updatePlan,
  archivePlan,
  listAllInvoices,
  refundInvoice,
  listAdministratorAuditLog,
  listSigningKeys,
  rotateSigningKeys,
  removeSigningKey,
};
