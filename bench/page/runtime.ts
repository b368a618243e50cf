import type { BenchCase, CaseTensor } from '../cases/bench-case.ts';

/** One runtime with one case, loaded. */
export interface Running {
  /** Uploads the inputs, computes, and reads every output back. */
  run(): Promise<readonly Output[]>;
  /** Outputs in ONNX's layout, where the runtime has another. Not timed. */
  canonical?(outputs: readonly Output[]): readonly Output[];
}

export interface Output {
  readonly data: ArrayLike<number | bigint>;
  readonly shape: readonly number[];
}

export interface StartOptions {
  /** Gets the milliseconds of a part of the start, as far as the runtime lets one see it. */
  part(name: string, ms: number): void;
  /** Take the executable that was compiled ahead of time, where the runtime has such a thing. */
  readonly isAheadOfTime: boolean;
}

export type Start = (benchCase: BenchCase, options: StartOptions) => Promise<Running>;

/** The elements of the inputs and weights, of what is expected too, fetched before anything is timed. */
export const elements = new Map<string, ArrayBuffer>();

const ARRAYS = {
  float32: Float32Array,
  int64: BigInt64Array,
  int32: Int32Array,
  bool: Uint8Array,
};

/** The elements of a tensor of a model. */
export function typedElements({ dtype, url }: CaseTensor): InstanceType<(typeof ARRAYS)[DType]> {
  const array = ARRAYS[dtype];
  return new array(elements.get(url) ?? new ArrayBuffer(0));
}
type DType = CaseTensor['dtype'];

export function float32(url: string): Float32Array {
  return new Float32Array(elements.get(url) ?? new ArrayBuffer(0));
}

/** Milliseconds that `work` took go to `part`. */
export async function timePart<T>(
  options: StartOptions,
  name: string,
  work: () => Promise<T>,
): Promise<T> {
  const begin = performance.now();
  const value = await work();
  options.part(name, performance.now() - begin);
  return value;
}
