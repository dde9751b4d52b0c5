import { AxeBuilder } from '@axe-core/playwright';
import type { Watched } from './browser.ts';

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

interface Options {
  /** Finds only what this rule is about. */
  readonly rule?: string | undefined;
  /** Looks only into the elements of a selector. */
  readonly within?: string | undefined;
  /** A control is half behind the bar at the top, which is no fault. */
  readonly isScrolled?: boolean | undefined;
}

/** What axe finds, and where. */
export async function violationsOf(
  { page }: Watched,
  { rule, within, isScrolled = false }: Options = {},
): Promise<string[]> {
  // Our pages have no frames, and only violations are of interest: both save time.
  const axe = new AxeBuilder({ page }).setLegacyMode(true).options({ resultTypes: ['violations'] });
  if (isScrolled) axe.disableRules(['target-size']);
  if (within) axe.include(within);
  const { violations } = await (rule ? axe.withRules([rule]) : axe.withTags(RULES)).analyze();
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} ${target}: ${failureSummary}`),
  );
}

/** Waits for the data and the ends of animations, because a half-visible text has too little contrast. */
export async function settle({ page, idle }: Watched): Promise<void> {
  await idle();
  await settleAnimations(page);
}

export const settleAnimations = (page: Watched['page']): Promise<unknown> =>
  page.evaluate(`Promise.all(document.getAnimations()
    .filter((animation) => animation.effect.getTiming().iterations !== Infinity)
    .map((animation) => animation.finished.catch(() => {})))`);
