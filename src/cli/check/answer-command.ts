import type { Executable } from '../../bytecode/index.ts';
import { errorHelp } from '../../core/error-help.ts';
import { CompileLimitError, UnsupportedError, UsageError } from '../../core/errors.ts';
import { foldLines } from '../fold-lines.ts';
import type { OpenFlags } from '../open-session.ts';
import { readProgram } from '../files/read-program.ts';
import { writeJson } from '../report.ts';
import { ProgressLine, type Terminal } from '../terminal.ts';
import {
  type CheckedDevice,
  checkProgram,
  type MemoryAnswer,
  type ProgramAnswer,
} from './check-program.ts';
import { shortList } from '../../core/short-list.ts';
import { formatBytes } from '../format-bytes.ts';
import type { Float16Answer, Float16Risk } from './float16-risks.ts';

/** Every adapter binds that much (the default of `maxStorageBufferBindingSize`). */
const SURE_BINDING = 2 ** 27;
const SHOWN_RISKS = 8;

/** The answer as lines of text. */
function formatAnswer(path: string, answer: ProgramAnswer, budget: number | undefined): string {
  const { device, signature, kernels, elsewhere, memory, download } = answer;
  const isOver = memory.fits === false;
  const beside = device === 'webgpu' ? 'beside WebGPU, on the processor' : 'without WebAssembly';
  const lines = [
    `${path}: ${isOver ? 'does not fit' : 'runs'} on ${device}`,
    signature,
    line(
      'download',
      `${formatBytes(download.byteLength)}, ${formatBytes(download.gzipByteLength)} gzipped`,
    ),
    line('memory', memoryText(memory, budget)),
    ...sizeLines(answer),
    ...largestLines(answer),
    line(
      'kernels',
      `${kernels}${elsewhere.length === 0 ? '' : `; ${elsewhere.length} call(s) ${beside}:`}`,
    ),
    ...elsewhere.map(({ source, operator, reason }) => `    ${source}: ${operator}: ${reason}`),
    ...float16Lines(answer.float16),
    '',
  ];
  return lines.join('\n');
}

const line = (title: string, text: string): string => `  ${title.padEnd(9)} ${text}`;

function memoryText(memory: MemoryAnswer, budget: number | undefined): string {
  const { weights, prepacked, tensors, total, isAtLeast, fits } = memory;
  const parts = [
    `weights ${formatBytes(weights)}`,
    ...(prepacked > 0 ? [`other layouts of them up to ${formatBytes(prepacked)}`] : []),
    `tensors ${formatBytes(tensors)} at a time`,
  ];
  const limit =
    budget === undefined
      ? ''
      : `; the budget is ${formatBytes(budget)}: ${fits === true ? 'fits' : 'too much'}`;
  return `${isAtLeast ? 'at least ' : ''}${formatBytes(total)}: ${parts.join(', ')}${limit}`;
}

function sizeLines({ symbols, computedSizes, memory }: ProgramAnswer): string[] {
  const told =
    symbols.length === 0
      ? []
      : [`${shortList(symbols)}: told by each run; --dim NAME=N fixes one, and tells its memory`];
  const computed =
    computedSizes.length === 0 ? [] : [`of ${shortList(computedSizes)}: computed by the program`];
  const inside =
    told.length + computed.length === 0 && memory.isAtLeast
      ? ['of tensors between kernels: computed by the program']
      : [];
  return [...told, ...computed, ...inside].map((text) => line('sizes', text));
}

function largestLines({ device, memory: { largest } }: ProgramAnswer): string[] {
  if (device !== 'webgpu' || largest <= SURE_BINDING) return [];
  const sure = formatBytes(SURE_BINDING);
  return [line('largest', `a tensor of ${formatBytes(largest)}: some adapters bind ${sure} only`)];
}

function float16Lines({ kernels, risks }: Float16Answer): string[] {
  const state =
    kernels === 0
      ? 'not used'
      : `in ${kernels} kernel(s): weft check --verify compares the numbers with float32`;
  const shown = risks.slice(0, SHOWN_RISKS).map((risk) => `    ${riskText(risk)}`);
  const more = risks.length - shown.length;
  return [
    line('float16', risks.length === 0 ? state : `${state}; it does not hold constants of`),
    ...shown,
    ...(more > 0 ? [`    and ${more} more`] : []),
  ];
}

function riskText({ shape, infinite, coarse, largest, sources }: Float16Risk): string {
  const who = shortList(sources) || 'a function';
  const what = [
    ...(infinite > 0 ? [`${infinite} above 65,504, up to ${largest.toPrecision(3)}`] : []),
    ...(coarse > 0 ? [`${coarse} too small`] : []),
  ];
  return `${who}: [${shape.join(', ')}], ${what.join(', ')}`;
}

export interface AnswerFlags extends Pick<OpenFlags, 'dim' | 'limit'> {
  /** `browser` is refused: nothing is run. */
  readonly device: 'auto' | 'browser' | CheckedDevice;
  /** The memory that the device has for it, in bytes. */
  readonly budget?: number;
  readonly json?: boolean;
}

/**
 * `weft check`: whether a program runs, where, and what it costs, from its file alone. 1 where it does not run, or takes
 * more memory than the budget.
 */
export async function answerCommand(
  path: string,
  flags: AnswerFlags,
  terminal: Terminal,
): Promise<number> {
  const { budget, json = false } = flags;
  if (flags.device === 'browser') {
    throw new UsageError({
      where: 'check',
      got: '--device browser without --verify, which runs nothing',
      expected: '--device auto, host, wasm or webgpu',
      remedy: 'Give --verify to run it in a browser, or --device webgpu.',
    });
  }
  // A page that chooses takes WebGPU wherever there is an adapter.
  const device = flags.device === 'auto' ? 'webgpu' : flags.device;
  const read = await readOrRefuse(path, flags, terminal);
  if (read instanceof Error) {
    const { code, message } = read;
    if (json) {
      const reason = { code, help: errorHelp(read), message };
      writeJson(terminal, 'check', { runs: false, device, reason });
    } else terminal.out(`${path}: does not run\n${message}\n`);
    return 1;
  }
  const answer = await checkProgram(read, { device, budget });
  if (json) writeJson(terminal, 'check', { runs: true, budget, ...answer });
  else terminal.out(foldLines(formatAnswer(path, answer, budget), terminal.columns));
  return answer.memory.fits === false ? 1 : 0;
}

/** The program, or why there is none. Files that are no programs are errors as ever. */
async function readOrRefuse(
  path: string,
  { dim = {}, limit }: AnswerFlags,
  terminal: Terminal,
): Promise<Executable | UnsupportedError | CompileLimitError> {
  const progress = new ProgressLine(terminal);
  try {
    return await readProgram(path, {
      dims: dim,
      compileLimits: limit,
      onProgress: (done, total) => progress.show(`compiling: ${done} of ${total}`),
    });
  } catch (error) {
    if (error instanceof UnsupportedError || error instanceof CompileLimitError) return error;
    throw error;
  } finally {
    progress.clear();
  }
}
