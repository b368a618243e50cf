import type { Consumer } from '../../e2e/consumers/consumer.ts';
import { BUNDLERS } from '../../e2e/consumers/environments/bundlers.ts';
import { GUIDES } from '../../e2e/consumers/environments/guides.ts';
import { RUNTIME_CONSUMERS } from '../../e2e/consumers/environments/runtimes.ts';
import { STARTERS } from '../../e2e/consumers/environments/starter.ts';
import { THREADS } from '../../e2e/consumers/environments/threads.ts';
import { UNBUNDLED } from '../../e2e/consumers/environments/unbundled.ts';
import { installTools, Lab, packPackage } from '../../e2e/consumers/lab.ts';
import { launchChromium } from '../../scripts/launch-chromium.ts';

export const CONSUMERS: readonly Consumer[] = [
  ...STARTERS,
  ...UNBUNDLED,
  ...THREADS,
  ...RUNTIME_CONSUMERS,
  ...BUNDLERS,
  ...GUIDES,
];

/**
 * The packed package in every environment that we know of: `npm run show -- consumers`. `--quick`
 * leaves out those that need an installation, `--built` takes dist as it is; words choose by name.
 */
export async function main(args: readonly string[] = []): Promise<number> {
  const words = args.filter((word) => !word.startsWith('--'));
  const chosen = CONSUMERS.filter(
    ({ name, isHeavy }) =>
      !(isHeavy && args.includes('--quick')) &&
      (words.length === 0 || words.some((word) => name.includes(word))),
  );
  const packed = packPackage(args.includes('--built'));
  if (chosen.some(({ isHeavy }) => isHeavy)) installTools();
  const browser = await launchChromium();
  let failures = 0;
  try {
    for (const consumer of chosen)
      failures += (await show(consumer, new Lab(browser, packed))) ? 0 : 1;
  } finally {
    await browser.close();
  }
  console.log(`${chosen.length - failures} of ${chosen.length} environments hold`);
  return failures === 0 && chosen.length > 0 ? 0 : 1;
}

async function show({ name, run }: Consumer, lab: Lab): Promise<boolean> {
  const startedAt = Date.now();
  const line = (result: string, text: string): void => {
    const seconds = `${((Date.now() - startedAt) / 1000).toFixed(1)} s`;
    console.log(`${result.padEnd(7)}${name.padEnd(50)}${seconds.padStart(7)}  ${text}`);
  };
  try {
    line('ok', await run(lab));
    return true;
  } catch (error) {
    line('FAILED', error instanceof Error ? error.message : String(error));
    return false;
  } finally {
    await lab.close();
  }
}
