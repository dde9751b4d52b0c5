import type { Handler } from '../handler.ts';
import { toInstallation } from './installation.ts';

export const getInstallation: Handler<'getInstallation'> = async (_request, { installation }) => ({
  status: 200,
  body: { status: 'success', ...toInstallation(await installation.report()) },
});
