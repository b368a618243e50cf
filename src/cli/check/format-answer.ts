import { shortList } from '../../core/short-list.ts';
import { formatBytes } from '../format-bytes.ts';
import type { MemoryAnswer, ProgramAnswer } from './check-program.ts';
import type { Float16Answer, Float16Risk } from './float16-risks.ts';

/** Every adapter binds that much (the default of `maxStorageBufferBindingSize`). */
const SURE_BINDING = 2 ** 27;
const SHOWN_RISKS = 8;

/** The answer as lines of text. */
export function formatAnswer(
  path: string,
  answer: ProgramAnswer,
  budget: number | undefined,
): string {
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
