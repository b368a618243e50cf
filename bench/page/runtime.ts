import type { BenchCase, BenchDevice, CaseTensor } from '../cases/bench-case.ts';

/** One runtime with one case, loaded. */
export interface Running {
  /** Uploads the inputs, computes, and reads every output back. Resident: computes, and gives none. */
  run(): Promise<readonly Output[]>;
  /** The outputs of a run, where {@link Running.run} leaves them on the device. */
  read?(): Promise<readonly Output[]>;
  /** What its runs have learnt, where they are steps of training. */
  progress?(): Progress;
  /** The most bytes that it held on its device at once, where they are counted. */
  peakBytes?(): number;
  /** Outputs in ONNX's layout, where the runtime has another. Not timed. */
  canonical?(outputs: readonly Output[]): readonly Output[];
  /** Frees what it holds. */
  stop?(): Promise<void>;
}

/** The losses of the first steps, and the first gradients by parameter, if the runtime tells them. */
export interface Progress {
  readonly losses: readonly number[];
  readonly gradients?: Readonly<Record<string, Float32Array>> | undefined;
}

export interface Output {
  readonly data: ArrayLike<number | bigint>;
  readonly shape: readonly number[];
}

/** How a contestant is started, as the terminal says it. */
export interface StartRequest {
  readonly device: BenchDevice;
  /** On the processor. */
  readonly threads: number;
  /** Options of Weft's session besides. */
  readonly session: { readonly threads?: number };
  /** Take the executable that was compiled ahead of time, where the runtime has such a thing. */
  readonly isAheadOfTime: boolean;
  /** True if inputs and outputs stay on the device between runs. */
  readonly isResident: boolean;
  /** True if Weft runs in the page's own thread. */
  readonly isInPage: boolean;
  /** Launches that the case is made of. */
  readonly launches: number;
}

export interface StartOptions extends StartRequest {
  /** Gets the milliseconds of a part of the start, as far as the runtime lets one see it. */
  part(name: string, ms: number): void;
}

export type Start = (benchCase: BenchCase, options: StartOptions) => Promise<Running>;

/** The elements of the inputs and weights, of what is expected too, by addresses; there before anything is timed. */
export const elements = new Map<string, ArrayBuffer>();

const ARRAYS = {
  float32: Float32Array,
  int64: BigInt64Array,
  int32: Int32Array,
  int8: Int8Array,
  uint8: Uint8Array,
  bool: Uint8Array,
};

/** A file as a session loads it: its bytes where the page has them, else its address. */
export const sourceAt = (url: string): ArrayBuffer | string => elements.get(url) ?? url;

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
