import type { Executable } from '../bytecode/index.ts';
import { printSignature } from '../bytecode/text/print-types.ts';
import { shortList } from '../core/short-list.ts';
import { type KernelCost, kernelCosts } from '../worker/auto/kernel-costs.ts';
import { plannedBytes } from '../worker/sources/planned-bytes.ts';
import { formatBytes } from './format-bytes.ts';

interface ProgramSummary {
  readonly signature: string;
  readonly functions: number;
  readonly kernels: number;
  /** Bytes of weights and other constants, on a device. */
  readonly weightBytes: number;
  /** Bytes of tensors between kernels that are planned ahead; those whose sizes runs tell are not in it. */
  readonly plannedBytes: number;
  /** Symbols of sizes; costs are for 1 of a batch, 128 of others. */
  readonly symbols: readonly string[];
  readonly operations: number;
  readonly bytes: number;
  /** The most expensive ones first. */
  readonly costs: readonly KernelCost[];
}

/** Sums up a program: its kernels, their costs, and its memory. */
export function summarizeProgram(executable: Executable): ProgramSummary {
  const { functions, primitives } = executable;
  const main = functions.find(({ name }) => name === 'main') ?? functions[0];
  const params = main?.signature?.params ?? [];
  const tensors = params.filter((type) => type.kind === 'tensor');
  const costs = kernelCosts(executable);
  const { constants, storages } = plannedBytes(executable);
  const dims = tensors.flatMap(({ shape }) => shape);
  return {
    signature:
      main === undefined ? '' : `${main.name}${printSignature(main.paramNames, main.signature)}`,
    functions: functions.length,
    kernels: primitives.length,
    weightBytes: constants,
    plannedBytes: storages,
    symbols: [...new Set(dims.filter((dim) => typeof dim === 'string'))],
    operations: costs.reduce((sum, { operations = 0 }) => sum + operations, 0),
    bytes: costs.reduce((sum, { bytes = 0 }) => sum + bytes, 0),
    costs: costs.toSorted((a, b) => costOf(b) - costOf(a)),
  };
}

/** A device computes some ten operations in the time of a byte. */
const costOf = ({ operations = 0, bytes = 0 }: KernelCost): number => operations + 10 * bytes;

const SHOWN_KERNELS = 10;

/** A summary as lines of text, the most expensive kernels first. */
export function formatSummary(summary: ProgramSummary): string {
  const { functions, kernels, weightBytes, symbols, operations, bytes, costs } = summary;
  const whole = costs.reduce((sum, cost) => sum + costOf(cost), 0) || 1;
  const shown = costs.slice(0, SHOWN_KERNELS).map((cost) => {
    const share = `${((100 * costOf(cost)) / whole).toFixed(0)}%`.padStart(4);
    const amount =
      cost.operations === undefined ? 'unknown' : `${formatCount(cost.operations)} operations`;
    const sources = shortSources(cost.sources);
    return `  ${share}  ${amount.padStart(18)}  ${String(cost.calls).padStart(4)}x  ${cost.kernel}${cost.isOnHost ? ' (host)' : ''}${sources}`;
  });
  const more = costs.length - shown.length;
  const assumed = symbols.length === 0 ? '' : `, for ${symbols.join(', ')} as 1 or 128`;
  return [
    summary.signature,
    `${functions} function(s), ${kernels} kernel(s), ${formatBytes(weightBytes)} of weights, ${formatBytes(summary.plannedBytes)} of tensors between kernels`,
    `one run: ${formatCount(operations)} operations, ${formatBytes(bytes)} read and written${assumed}`,
    ...shown,
    ...(more > 0 ? [`        and ${more} more kernel(s)`] : []),
    '',
  ].join('\n');
}

function shortSources(sources: readonly string[]): string {
  if (sources.length === 0) return '';
  const [first = '', ...others] = sources;
  return `  ${shortList([first])}${others.length === 0 ? '' : ` and ${others.length} more`}`;
}

const UNITS = ['', ' thousand', ' million', ' billion', ' trillion'];

function formatCount(count: number): string {
  const power = count < 1 ? 0 : Math.min(Math.floor(Math.log10(count) / 3), UNITS.length - 1);
  const value = count / 1000 ** power;
  return `${power === 0 ? Math.round(value) : value.toFixed(1)}${UNITS[power]}`;
}
