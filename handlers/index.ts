import type { Handlers } from './handler.ts';
import { getHealth } from './health/getHealth.ts';
import { loginUserV2 } from './client/loginUserV2.ts';
import { loginWithLicense } from './client/loginWithLicense.ts';
import { verifySessionV2 } from './client/verifySessionV2.ts';
import { logoutUserV2 } from './client/logoutUserV2.ts';
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
import { createApiToken } from './tokens/createApiToken.ts';
import { listApiTokens } from './tokens/listApiTokens.ts';
import { deleteApiToken } from './tokens/deleteApiToken.ts';
import { listAuditLog } from './audit/listAuditLog.ts';
import { createApplication } from './applications/createApplication.ts';
import { listApplications } from './applications/listApplications.ts';
import { getApplication } from './applications/getApplication.ts';
import { updateApplication } from './applications/updateApplication.ts';
import { deleteApplication } from './applications/deleteApplication.ts';
import { createLicenses } from './licenses/createLicenses.ts';
import { listLicenses } from './licenses/listLicenses.ts';
import { createBan } from './bans/createBan.ts';
import { listBans } from './bans/listBans.ts';
import { deleteBan } from './bans/deleteBan.ts';

/** The only registry: every operation of the contract and its handler, in the contract's order. */
export const handlers: Handlers = {
  getHealth,
  loginUserV2,
  loginWithLicense,
  verifySessionV2,
  logoutUserV2,
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
  createApiToken,
  listApiTokens,
  deleteApiToken,
  listAuditLog,
  createApplication,
  listApplications,
  getApplication,
  updateApplication,
  deleteApplication,
  createLicenses,
  listLicenses,
  createBan,
  listBans,
  deleteBan,
};
