import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { GenerateOptions } from '../../../src/text/generate-options.ts';
import type { TextModel } from '../../../src/text/text-model.ts';
import { endlessStories } from './cancel/endless-stories.ts';
import type { Checks } from './checks.ts';
import { type CountedModel, openCounted } from './position/counted-model.ts';
import { BEGINS, tokensOf } from './stories.ts';

const DEVICES = ['wasm', 'webgpu'] as const;
type Device = (typeof DEVICES)[number];

/** Tokens of a chunk. */
const CHUNK = 8;
const TOKENS = 60;
/** Of a text that is cancelled: the fastest device writes 60 before the last of the delays is over. */
const CANCELLED_TOKENS = 200;
/** Tokens after which a text is cancelled or left. */
const PLACES = [1, 3, 8, 9, 16, 21];
/** Milliseconds after a token at which others are cancelled, while the device is at work. */
const DELAYS_MS = [0, 1, 4, 9];

const KINDS: Readonly<Record<string, GenerateOptions>> = {
  likeliest: { temperature: 0 },
  'at temperature 0.8': { temperature: 0.8, seed: 3 },
  filtered: { temperature: 0.9, topK: 40, topP: 0.9, seed: 4 },
  penalized: { temperature: 0.8, seed: 5, frequencyPenalty: 0.4, repetitionPenalty: 1.2 },
};
/** Texts that are cancelled end at once, and go on in another process as if nothing had been. */
export async function show(checks: Checks): Promise<void> {
  for (const device of DEVICES) {
    const counted = await openCounted(endlessStories(), { device });
    checks.section(`${device}: a cancelled text ends within a chunk of ${CHUNK} tokens`);
    await showCancelled(checks, counted);
    checks.section(`${device}: a text that is left, saved, and goes on in another process`);
    await showResumed(checks, device, counted.model);
    await counted.dispose();
  }
}

async function showCancelled(checks: Checks, counted: CountedModel): Promise<void> {
  const { model } = counted;
  const prompt = BEGINS[0] ?? '';
  for (const [kind, own] of Object.entries(KINDS)) {
    const options = { ...own, maxTokens: CANCELLED_TOKENS };
    const { ids: whole, chunkLaunches } = await wholeText(counted, prompt, options);
    const runs: CancelledRun[] = [];
    for (const place of PLACES) {
      runs.push(await cancelAt(counted, prompt, { ...options, place, delayMs: undefined }));
    }
    for (const delayMs of DELAYS_MS) {
      runs.push(await cancelAt(counted, prompt, { ...options, place: CHUNK + 2, delayMs }));
    }
    const again = await tokensOf(model, prompt, options);
    const isPart = (ids: readonly number[]): boolean => ids.every((id, i) => id === whole[i]);
    const isSame = isPart(again) && again.length === whole.length;
    const late = runs.map(({ lateTokens }) => lateTokens);
    const areRight = runs.every(({ ids, isCancelled }) => isCancelled && isPart(ids));
    const chunks = runs.map(({ lateLaunches }) => lateLaunches / chunkLaunches);
    const waits = runs.map(({ waitMs }) => waitMs);
    checks.check(
      areRight && isSame && Math.max(...late) <= CHUNK && Math.max(...chunks) <= 1,
      `${kind}: ${runs.length} runs, at most ${Math.max(...late)} more tokens and ${Math.max(...chunks)} more chunks, ` +
        `over after ${Math.max(...waits).toFixed(1)} ms; the next text is ${isSame ? 'as ever' : 'another one'}`,
    );
  }
}

/** A text that nobody cancels, and how many launches a chunk of it takes. */
async function wholeText(
  { model, counts }: CountedModel,
  prompt: string,
  options: GenerateOptions,
): Promise<{ readonly ids: readonly number[]; readonly chunkLaunches: number }> {
  const ids: number[] = [];
  const launches: number[] = [];
  for await (const { id } of model.generate(prompt, options).tokens()) {
    if (ids.length % CHUNK === 0) launches.push(counts().launches);
    if (id >= 0) ids.push(id);
  }
  const [, first = Number.NaN, second = Number.NaN] = launches;
  return { ids, chunkLaunches: second - first };
}

interface CancelledRun {
  readonly ids: readonly number[];
  /** True if it ended with the signal's reason. */
  readonly isCancelled: boolean;
  /** Tokens that came afterwards. */
  readonly lateTokens: number;
  readonly lateLaunches: number;
  /** From the signal to the end. */
  readonly waitMs: number;
}

/** Cancels a text when so many tokens have come, or some time after. */
async function cancelAt(
  { model, counts }: CountedModel,
  prompt: string,
  {
    place,
    delayMs,
    ...options
  }: GenerateOptions & { readonly place: number; readonly delayMs: number | undefined },
): Promise<CancelledRun> {
  const controller = new AbortController();
  const reason = new Error('enough');
  const ids: number[] = [];
  let cancelled = { tokens: Number.NaN, launches: Number.NaN, at: Number.NaN };
  const cancel = (): void => {
    cancelled = { tokens: ids.length, launches: counts().launches, at: performance.now() };
    controller.abort(reason);
  };
  const text = model.generate(prompt, { ...options, signal: controller.signal });
  let isCancelled = false;
  try {
    for await (const { id } of text.tokens()) {
      ids.push(id);
      if (ids.length !== place) continue;
      if (delayMs === undefined) cancel();
      else setTimeout(cancel, delayMs);
    }
  } catch (error) {
    isCancelled = error === reason;
  }
  return {
    ids,
    isCancelled,
    lateTokens: ids.length - cancelled.tokens,
    lateLaunches: counts().launches - cancelled.launches,
    waitMs: performance.now() - cancelled.at,
  };
}

async function showResumed(checks: Checks, device: Device, model: TextModel): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'weft-show-'));
  try {
    const jobs = Object.entries(KINDS).flatMap(([kind, options]) =>
      PLACES.map((place, i) => ({ kind, options, place, prompt: BEGINS[i % BEGINS.length] ?? '' })),
    );
    const files: string[] = [];
    const begun: number[][] = [];
    for (const { options, place, prompt } of jobs) {
      const text = model.generate(prompt, { ...options, maxTokens: TOKENS });
      const ids: number[] = [];
      for await (const { id } of text.tokens()) {
        ids.push(id);
        if (ids.length === place) break;
      }
      begun.push(ids);
      const file = join(folder, `${files.length}`);
      writeFileSync(file, await text.save());
      files.push(file);
    }
    const rests = inOtherProcess(device, files);
    for (const kind of Object.keys(KINDS)) {
      let [same, of] = [0, 0];
      for (const [i, job] of jobs.entries()) {
        if (job.kind !== kind) continue;
        const whole = await tokensOf(model, job.prompt, { ...job.options, maxTokens: TOKENS });
        of++;
        if (String([...(begun[i] ?? []), ...(rests[i] ?? [])]) === String(whole)) same++;
      }
      checks.check(
        same === of,
        `${kind}, after ${PLACES.join(', ')} tokens: ${same} of ${of} texts are those that nobody stopped`,
      );
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Tokens that follow saved texts, generated in a process that has nothing but the files. */
function inOtherProcess(device: Device, files: readonly string[]): number[][] {
  const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
  const args = [path('../../run-ts.mjs'), path('./cancel/resume-files.ts'), device, ...files];
  const lines = execFileSync(process.execPath, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return lines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as number[]);
}
