import source from '../../../../shaders/pictures/prepare-picture.wgsl?raw';
import type { PictureSource } from '../../../core/pictures/picture-source.ts';
import type { PictureSteps } from '../../../core/pictures/picture-steps.ts';
import type { PictureTarget } from '../../device.ts';
import { BUFFER_USAGE } from '../memory/buffer-usage.ts';
import { asWebGpuBuffer } from '../memory/buffers.ts';
import type { DrawContext } from './draw-tensor.ts';
import { readPicture, type ReadTexture } from './read-picture.ts';

const WORKGROUP = 64;
const MOST_WORKGROUPS = 65_535;
const PARAMETER_COUNT = 25;
/** Words of the uniform buffer, rounded up to whole vectors of four. */
const UNIFORM_WORDS = 28;

interface Pipelines {
  readonly rows: GPUComputePipeline;
  readonly elements: GPUComputePipeline;
}

const pipelines = new WeakMap<GPUDevice, Promise<Pipelines>>();

/**
 * Writes a picture into the part of a tensor that begins at an element, in order with launches. Nothing is read back. Faults reach the
 * next reader.
 */
export async function preparePicture(
  picture: PictureSource,
  target: PictureTarget,
  context: DrawContext,
): Promise<void> {
  const ready = await pipelinesOf(context.device);
  await readPicture(picture, target.steps.source, context, (read) =>
    recordSteps(read, target, { ...context, pipelines: ready }),
  );
}

function pipelinesOf(device: GPUDevice): Promise<Pipelines> {
  const known = pipelines.get(device);
  if (known !== undefined) return known;
  const module = device.createShaderModule({ label: 'prepare-picture', code: source });
  const compile = (entryPoint: string): Promise<GPUComputePipeline> =>
    device.createComputePipelineAsync({
      label: entryPoint,
      layout: 'auto',
      compute: { module, entryPoint },
    });
  const made = Promise.all([compile('resize_rows'), compile('write_elements')]).then(
    ([rows, elements]) => ({ rows, elements }),
  );
  pipelines.set(device, made);
  return made;
}

/** Records both passes, submits them, and frees all that they need besides the texture. */
function recordSteps(
  { view, isLinear }: ReadTexture,
  { tensor, firstElement, steps }: PictureTarget,
  { device, queue, faults, pipelines }: DrawContext & { readonly pipelines: Pipelines },
): void {
  const { resized, source, order, padded, elementSize } = steps;
  const target = asWebGpuBuffer(tensor.buffer);
  const wordCount = (order.length * padded[0] * padded[1] * elementSize) / 4;
  const made: GPUBuffer[] = [];
  const bufferOf = (data: Int32Array | Uint32Array, usage: number): GPUBuffer => {
    const size = data.byteLength;
    const buffer = device.createBuffer({ label: 'picture', size, usage, mappedAtCreation: true });
    new Uint32Array(buffer.getMappedRange()).set(data);
    buffer.unmap();
    made.push(buffer);
    return buffer;
  };
  const { numbers, begins } = numbersOf(steps);
  const firstWord = (firstElement * elementSize) / 4;
  const parameters = parametersOf(steps, begins, { firstWord, wordCount, isLinear });
  const uniform = bufferOf(parameters, BUFFER_USAGE.uniform);
  const table = bufferOf(numbers, BUFFER_USAGE.storage);
  const rows = device.createBuffer({
    label: 'picture',
    size: resized[0] * source[1] * 4,
    usage: BUFFER_USAGE.storage,
  });
  made.push(rows);
  const shared = [
    { binding: 0, resource: { buffer: uniform } },
    { binding: 1, resource: { buffer: table } },
    { binding: 3, resource: { buffer: rows } },
  ];
  const groupOf = (pipeline: GPUComputePipeline, entry: GPUBindGroupEntry): GPUBindGroup =>
    device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries: [...shared, entry] });
  const first = groupOf(pipelines.rows, { binding: 2, resource: view });
  const buffer = { buffer: target.gpuBuffer, offset: tensor.byteOffset };
  const second = groupOf(pipelines.elements, { binding: 4, resource: buffer });
  queue.record((encoder) => {
    const pass = encoder.beginComputePass({ label: 'prepare-picture' });
    pass.setPipeline(pipelines.rows);
    pass.setBindGroup(0, first);
    pass.dispatchWorkgroups(Math.ceil(resized[0] / WORKGROUP), source[1]);
    pass.setPipeline(pipelines.elements);
    pass.setBindGroup(0, second);
    const groups = Math.ceil(wordCount / WORKGROUP);
    const across = Math.min(groups, MOST_WORKGROUPS);
    pass.dispatchWorkgroups(across, Math.ceil(groups / across));
    pass.end();
  });
  target.lastUse = faults.serial;
  target.lastWrite = faults.serial;
  queue.flush();
  for (const each of made) each.destroy();
}

/** All tables of a picture one behind the other, and where those behind the first begin. */
function numbersOf({ rows, columns, levels }: PictureSteps): {
  readonly numbers: Int32Array;
  readonly begins: readonly number[];
} {
  const parts = [rows.first, rows.weights, columns.first, columns.weights, levels];
  const numbers = new Int32Array(parts.reduce((sum, { length }) => sum + length, 0));
  const begins: number[] = [];
  let at = 0;
  for (const part of parts) {
    begins.push(at);
    numbers.set(part, at);
    at += part.length;
  }
  return { numbers, begins };
}

/** Where elements go in words, and the kind of colours that they are made of. */
interface Words {
  readonly firstWord: number;
  readonly wordCount: number;
  readonly isLinear: boolean;
}

/** The parameters in the order of the shader's struct. */
function parametersOf(
  steps: PictureSteps,
  [, rowWeights = 0, columnFirst = 0, columnWeights = 0, levels = 0]: readonly number[],
  { firstWord, wordCount, isLinear }: Words,
): Uint32Array {
  const bytes = (values: readonly number[]): number =>
    values.reduce((word, value, i) => word | (value << (8 * i)), 0);
  const { source, resized, frame, padded, rows, columns, order } = steps;
  const all = [
    ...source,
    ...resized,
    ...frame,
    ...padded,
    rowWeights,
    rows.taps,
    columnFirst,
    columnWeights,
    columns.taps,
    levels,
    bytes(steps.fill),
    bytes(order),
    order.length,
    Number(steps.isLast),
    Number(steps.isGrey),
    steps.elementSize,
    firstWord,
    wordCount,
    Number(isLinear),
  ];
  if (all.length !== PARAMETER_COUNT) throw new Error('internal: parameters of another shader');
  const words = new Uint32Array(UNIFORM_WORDS);
  words.set(all);
  return words;
}
