import { transfer } from 'comlink';
import type { RegionSteps } from '../../../core/pictures/sample-region.ts';
import { askForTensor, tensorsIn } from '../../pictures/prepare-on-device.ts';
import { replyOf, sentPicture } from '../../pictures/send-picture.ts';
import type { DeviceTensor } from '../../../client/values/device-tensor.ts';
import type { Session } from '../../../client/session.ts';
import { Tensor } from '../../../client/values/tensor.ts';
import { internalError, ShapeError } from '../../../core/errors.ts';
import { elementCount, type Shape } from '../../../core/tensor/shape.ts';
import { pictureInputOf } from '../../pictures/model-pictures.ts';
import type { Size } from '../../pictures/picture-options.ts';
import type { Picture } from '../../pictures/pixels.ts';
import { numbersOf } from '../../results/numbers.ts';
import type { CallOptions } from '../../task-options.ts';
import { type Region, type RegionInput, regionSteps } from './geometry.ts';

/** How a model sees regions: what its input does not say. */
export type SeenAs = Pick<RegionInput, 'range' | 'isBlackOutside'>;

/** What a model says of the regions of a picture. */
export interface RegionResults {
  /** Of the picture. */
  readonly size: Size;
  readonly results: readonly { readonly region: Region; readonly outputs: readonly ReadOutput[] }[];
}

/** The elements of an output; undefined for one that nobody reads. */
export type ReadOutput = ArrayLike<number> | undefined;

interface RunOptions extends CallOptions {
  /** Outputs that are not read. */
  readonly unread?: readonly string[] | undefined;
}

/** A model that sees regions of pictures in one size: [1, H, W, 3] or [1, 3, H, W] in float32. */
export class RegionModel {
  readonly session: Session;
  readonly input: RegionInput;
  readonly #name: string;

  /** Throws ShapeError for a model with another input. */
  constructor(session: Session, seen: SeenAs) {
    this.session = session;
    const { name, options } = pictureInputOf(session, undefined);
    const { size, channels, dtype, layout } = options;
    const isFixed = typeof size === 'object' && 'width' in size;
    if (!isFixed || channels !== 'rgb' || dtype !== 'float32') {
      const info = session.inputs.find((input) => input.name === name);
      throw new ShapeError({
        where: 'the model',
        got: `an input ${name}: ${info?.dtype ?? ''} [${info?.shape.join(', ') ?? ''}]`,
        expected: 'one of float32 [1, height, width, 3] or [1, 3, height, width]',
      });
    }
    this.#name = name;
    const { width, height } = size;
    this.input = { size: { width, height }, isLast: layout === 'nhwc', ...seen };
  }

  /** The number of elements of each output, in order. */
  get counts(): readonly number[] {
    return this.session.outputs.map(({ shape }) => elementCount(shape as Shape));
  }

  /** Runs the model on regions of a picture, and reads its outputs, but for those of the names in `unread`. */
  async run(
    picture: Picture,
    regionsOf: (size: Size) => readonly Region[],
    { signal, unread = [] }: RunOptions,
  ): Promise<RegionResults> {
    let regions: readonly Region[] = [];
    const { session, input } = this;
    const steps = (size: Size) => {
      regions = regionsOf(size);
      return regions.map((region) => regionSteps(region, input));
    };
    const { tensors, size } = await sampleRegions(session, picture, steps, { signal });
    try {
      const runs = tensors.map((tensor) =>
        session.run({ [this.#name]: tensor }, { signal, transfer: true, keep: unread }),
      );
      const results = (await Promise.all(runs)).map((outputs, i) => {
        const region = regions[i];
        if (region === undefined) throw internalError('a run without a region');
        return { region, outputs: session.outputs.map(({ name }) => readOf(outputs[name])) };
      });
      return { size, results };
    } finally {
      for (const tensor of tensors) if (!(tensor instanceof Tensor)) tensor.dispose();
    }
  }

  /** Runs the model on one region, and leaves its outputs on the device; dispose of them. */
  async runOnDevice(
    picture: Picture,
    regionOf: (size: Size) => Region,
    { signal }: CallOptions,
  ): Promise<{ readonly outputs: readonly DeviceTensor[] }> {
    const { session, input } = this;
    const steps = (size: Size) => [regionSteps(regionOf(size), input)];
    const { tensors } = await sampleRegions(session, picture, steps, { signal });
    const [tensor] = tensors;
    if (tensor === undefined) throw internalError('no region');
    try {
      const inputs = { [this.#name]: tensor };
      const outputs = await session.run(inputs, { signal, transfer: true, keep: 'device' });
      return { outputs: Object.values(outputs) };
    } finally {
      if (!(tensor instanceof Tensor)) tensor.dispose();
    }
  }
}

function readOf(output: Tensor | DeviceTensor | undefined): ReadOutput {
  if (output instanceof Tensor) return numbersOf(output);
  output?.dispose();
  return undefined;
}

/** The error of a model whose outputs are those of no model that a task knows. */
export function otherOutputs({ outputs }: Session, expected: string): ShapeError {
  const got = outputs.map(({ name, dtype, shape }) => `${name}: ${dtype} [${shape.join(', ')}]`);
  return new ShapeError({ where: 'the model', got: `outputs ${got.join(', ')}`, expected });
}

/** What regions are asked for: they depend on the size of the picture. */
type RegionsOf = (size: Size) => readonly RegionSteps[];

/** Regions of a picture as inputs of a model; those on a device have to be disposed of. */
export interface SampledRegions {
  readonly tensors: readonly (Tensor | DeviceTensor)[];
  readonly size: Size;
}

/**
 * Regions of a picture as tensors where a session is: on WebGPU by a shader, with nothing read back, else by the processor there.
 * Rejects as `preparePictures` does, and with the reason of the signal.
 */
export async function sampleRegions(
  session: Session,
  picture: Picture,
  regionsOf: RegionsOf,
  { signal }: CallOptions,
): Promise<SampledRegions> {
  signal?.throwIfAborted();
  const sent = await sentPicture(session, picture);
  const { source, transfers } = sent;
  const size = { width: source.width, height: source.height };
  const request = { kind: 'sample', source, regions: regionsOf(size), args: [] } as const;
  const asked = askForTensor(session, transfer(request, [...transfers]), signal);
  return { tensors: tensorsIn(await replyOf(asked, [sent]), session), size };
}
