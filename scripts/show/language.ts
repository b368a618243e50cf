import { isDeepStrictEqual } from 'node:util';
import { Command } from 'commander';
import type { DeviceKind } from '../../src/client/index.ts';
import { nodeGpu } from '../../src/testing/node-gpu.ts';
import { runCommand } from '../run-command.ts';
import { MISTAKES, messagesOf } from './language/mistakes.ts';
import {
  openLanguagePage,
  type OpenedLanguagePage,
  type PlaceInPage,
} from './language/open-language-page.ts';
import { PROGRAMS } from './language/programs.ts';
import { resultOf } from './language/result-of.ts';

const IN_NODE: readonly DeviceKind[] = ['host', 'wasm', 'webgpu'];

const IN_CHROMIUM: readonly (PlaceInPage & { readonly name: string })[] = [
  { name: 'Chromium, worker, webgpu', device: 'webgpu', worker: true },
  { name: 'Chromium, worker, wasm', device: 'wasm', worker: true },
  { name: 'Chromium, page, webgpu', device: 'webgpu', worker: false },
];

/** `npm run show -- language`: what programs give on each device, beside what was expected. */
export async function main(words: readonly string[] = []): Promise<number> {
  const command = new Command('language')
    .description('Runs programs of the language on each device, and in Chromium.')
    .option('--no-chromium', 'devices in this process alone');
  return runCommand(command, words, async () => {
    const { chromium } = command.opts<{ chromium: boolean }>();
    const page = chromium ? await openLanguagePage() : undefined;
    try {
      return await show(page);
    } finally {
      await page?.close();
    }
  });
}

async function show(page: OpenedLanguagePage | undefined): Promise<number> {
  let failures = 0;
  const report = (isGood: boolean, title: string, [expected, got]: readonly [unknown, unknown]) => {
    if (!isGood) failures++;
    console.log(`${isGood ? 'ok    ' : 'FAILED'} ${title}`);
    console.log(
      `         expected ${JSON.stringify(expected)}\n         got      ${JSON.stringify(got)}`,
    );
  };
  for (const shown of PROGRAMS) {
    const compare = (where: string, got: unknown): void => {
      const isGood = isDeepStrictEqual(got, shown.expected);
      report(isGood, `${where}: ${shown.title}`, [shown.expected, got]);
    };
    for (const device of IN_NODE) {
      const gpu = device === 'webgpu' ? { gpu: await nodeGpu() } : {};
      compare(device, await resultOf(shown, { ...gpu, device, worker: false }));
    }
    if (page === undefined) continue;
    for (const { name, ...place } of IN_CHROMIUM) {
      compare(name, await page.result(shown.title, place));
    }
  }
  const reports = { Node: messagesOf(), ...(page && { Chromium: await page.messages() }) };
  for (const [where, messages] of Object.entries(reports)) {
    for (const [i, { expected }] of MISTAKES.entries()) {
      const got = messages[i] ?? 'nothing';
      report(got.startsWith(expected), `${where}: messages have their places`, [expected, got]);
    }
  }
  console.log(failures === 0 ? 'All of it holds.' : `${failures} FAILED`);
  return failures === 0 ? 0 : 1;
}
