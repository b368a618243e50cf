import type { Facts } from '../element.ts';
import { formatBytes, formatCount, formatMs } from '../../core/format-quantity.ts';
import { expectedMs, type MeasuredDevice } from './measure-device.ts';
import type { ModelHead } from './model-head.ts';

/** The devices of this browser. */
export interface Machine {
  /** The most bytes of one buffer of the adapter; undefined without WebGPU. */
  readonly gpuBufferBytes: number | undefined;
  readonly devices: readonly MeasuredDevice[];
}

/** The answer whether a model runs here, with the reason, and facts about the model. */
export interface RunAnswer {
  readonly runs: boolean;
  readonly verdict: string;
  readonly facts: Facts;
}

/** WebAssembly has 4 GiB of memory, where weights lie once and products keep them in another layout too. */
const WASM_WEIGHT_BYTES = 2 ** 31;
const SHOWN_OPERATORS = 6;
const UNKNOWN = 'Nobody can tell before it is compiled.';
const FORMATS: Readonly<Record<ModelHead['format'], string>> = {
  onnx: 'ONNX model',
  tflite: 'TensorFlow Lite model',
  gguf: 'GGUF language model',
  weft: 'Weft executable',
};

/** Answers from the head of a file; no weight has been read. */
export function answerOf(head: ModelHead, machine: Machine): RunAnswer {
  const { verdict, runs } = verdictOf(head, machine);
  const { byteLength, readByteLength, weightByteLength, inputs, outputs, operators, work } = head;
  const shown = operators.slice(0, SHOWN_OPERATORS).map(({ name, count }) => `${name} ×${count}`);
  const others = operators.length - shown.length;
  const more = others > 0 ? `, and ${formatCount(others, 'other')}` : '';
  const times = machine.devices.map(
    (device) =>
      `${formatTime(work && expectedMs(work, device))} a ${work?.per} on ${device.name} (${describeRates(device)})`,
  );
  const expected = work === undefined || times.length === 0 ? UNKNOWN : times.join('; ');
  return {
    runs,
    verdict,
    facts: [
      [
        'File',
        `${FORMATS[head.format]}, ${formatBytes(byteLength)}; read for this: ${formatBytes(readByteLength)}`,
      ],
      ['Weights', formatBytes(weightByteLength)],
      ['Takes', inputs.join('; ') || 'nothing'],
      ['Gives', outputs.join('; ') || 'nothing'],
      [head.format === 'gguf' ? 'Tensors' : 'Operators', (shown.join(', ') || 'none') + more],
      // What does not run takes no time.
      ...(runs ? ([['Takes about', expected]] as const) : []),
    ],
  };
}

function verdictOf(head: ModelHead, machine: Machine): Pick<RunAnswer, 'runs' | 'verdict'> {
  const { refusal, weightByteLength, work } = head;
  if (refusal !== undefined) return { runs: false, verdict: `No. ${refusal}` };
  const { gpuBufferBytes, devices } = machine;
  const onGpu = gpuBufferBytes !== undefined;
  // Weights lie in buffers of their own, so only one that is larger than a buffer would not fit; no head says how much
  // memory an adapter has, so a model of several buffers is a risk and no refusal.
  if (onGpu && weightByteLength <= gpuBufferBytes) {
    const [gpu, wasm] = (['webgpu', 'wasm'] as const).map((kind) => {
      const device = devices.find((one) => one.kind === kind);
      return work && device && expectedMs(work, device);
    });
    const isSlower = wasm !== undefined && gpu !== undefined && wasm < gpu;
    const fits = weightByteLength <= WASM_WEIGHT_BYTES;
    const verdict =
      isSlower && fits
        ? 'Yes, in WebAssembly, which is faster here than WebGPU.'
        : 'Yes, on WebGPU.';
    return { runs: true, verdict };
  }
  if (weightByteLength <= WASM_WEIGHT_BYTES) {
    return {
      runs: true,
      verdict: onGpu
        ? 'Yes, in WebAssembly, and on WebGPU if its memory suffices.'
        : 'Yes, in WebAssembly.',
    };
  }
  if (onGpu) {
    const verdict = `Perhaps: ${formatBytes(weightByteLength)} of weights need several buffers of up to ${formatBytes(gpuBufferBytes)}.`;
    return { runs: true, verdict };
  }
  const verdict = `No. ${formatBytes(weightByteLength)} of weights are more than WebAssembly has room for, and there is no WebGPU.`;
  return { runs: false, verdict };
}

function describeRates({ rates }: MeasuredDevice): string {
  const { operationsPerMs, bytesPerMs } = rates;
  return `measured: ${readable(operationsPerMs / 1e6)} GFLOP/s, ${readable(bytesPerMs / 1e6)} GB/s`;
}

/** Two digits that count, and no powers of ten: `0.42`, `6.7`, `670`, `1,300`. */
export function readable(value: number): string {
  return Number(value.toPrecision(2)).toLocaleString('en', { maximumSignificantDigits: 2 });
}

/** Milliseconds, or from ten seconds on seconds. */
function formatTime(ms: number | undefined): string {
  return ms === undefined || ms < 10_000 ? formatMs(ms) : `${readable(ms / 1000)} s`;
}
