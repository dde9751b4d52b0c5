import type { Handlers } from './handler.ts';
import { getHealth } from './health/getHealth.ts';
import { initApplication } from './client/initApplication.ts';
import { registerUser } from './client/registerUser.ts';
import { loginUser } from './client/loginUser.ts';
import { verifySession } from './client/verifySession.ts';
import { activateLicense } from './client/activateLicense.ts';
import { logoutUser } from './client/logoutUser.ts';
import { registerDeveloper } from './developers/registerDeveloper.ts';
import { loginDeveloper } from './developers/loginDeveloper.ts';
import { createApplication } from './applications/createApplication.ts';
import { listApplications } from './applications/listApplications.ts';
import { getApplication } from './applications/getApplication.ts';
import { updateApplication } from './applications/updateApplication.ts';
import { deleteApplication } from './applications/deleteApplication.ts';
import { createLicenses } from './licenses/createLicenses.ts';
import { listLicenses } from './licenses/listLicenses.ts';

/** The only registry: every operation of the contract and its handler, in the contract's order. */
export const handlers: Handlers = {
  getHealth,
  initApplication,
  registerUser,
  loginUser,
  verifySession,
  activateLicense,
  logoutUser,
  registerDeveloper,
  loginDeveloper,
  createApplication,
  listApplications,
  getApplication,
  updateApplication,
  deleteApplication,
  createLicenses,
  listLicenses,
};
