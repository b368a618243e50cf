import { executables } from './executables.ts';
import { type FuzzTarget, outcomeOf } from './fuzz-target.ts';
import { generations } from './generations.ts';
import { ggufFiles } from './gguf-files.ts';
import { grammars } from './grammars.ts';
import { onnxModels } from './onnx-models.ts';
import { snapshots } from './snapshots.ts';
import { templates } from './templates.ts';
import { tfliteModels } from './tflite-models.ts';
import { tokenizers } from './tokenizers.ts';

/** The kinds of files, each with the targets that read them. */
export const FUZZ_TARGETS = {
  executable: executables,
  onnx: onnxModels,
  tflite: tfliteModels,
  snapshot: snapshots,
  gguf: ggufFiles,
  tokenizer: tokenizers,
  template: templates,
  grammar: grammars,
  generation: generations,
} satisfies Readonly<Record<string, () => FuzzTarget | Promise<FuzzTarget>>>;

export type FileKind = keyof typeof FUZZ_TARGETS;

/** An input may take so much processor time, however busy the machine is. */
const MOST_CPU_MS = 10_000;
/** And so much memory beyond what the process had before it. */
const MOST_BYTES = 512 * 2 ** 20;

interface FuzzProblem {
  readonly seed: number;
  readonly text: string;
}

export interface FuzzReport {
  readonly count: number;
  /** Inputs by what they came to. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly problems: readonly FuzzProblem[];
  readonly slowest: { readonly seed: number; readonly cpuMs: number };
}

export interface FuzzRequest {
  readonly kind: FileKind;
  /** Input `i` has the seed `seed + i`. */
  readonly seed: number;
  readonly count: number;
  /** Called with how many are done, and for each that begins. */
  readonly onInput?: (done: number, seed: number) => void;
}

/** Runs inputs in turn; each has to come to success or to an error with a type, within its bounds. */
export async function runInputs({ kind, seed, count, onInput }: FuzzRequest): Promise<FuzzReport> {
  const target = await FUZZ_TARGETS[kind]();
  const outcomes: Record<string, number> = {};
  const problems: FuzzProblem[] = [];
  let slowest = { seed, cpuMs: 0 };
  for (let i = 0; i < count; i++) {
    const current = seed + i;
    onInput?.(i, current);
    const bytes = await target.input(current);
    const before = { cpu: process.cpuUsage(), rss: process.memoryUsage.rss() };
    const { name, problem } = await outcomeOf(target, bytes);
    const { user, system } = process.cpuUsage(before.cpu);
    const cpuMs = (user + system) / 1000;
    const grown = process.memoryUsage.rss() - before.rss;
    outcomes[name] = (outcomes[name] ?? 0) + 1;
    if (cpuMs > slowest.cpuMs) slowest = { seed: current, cpuMs };
    if (problem !== undefined) problems.push({ seed: current, text: problem });
    if (cpuMs > MOST_CPU_MS) problems.push({ seed: current, text: `took ${cpuMs} ms` });
    if (grown > MOST_BYTES) problems.push({ seed: current, text: `took ${grown} bytes` });
  }
  return { count, outcomes, problems, slowest };
}
