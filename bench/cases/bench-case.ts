/** Runtimes that a case can be run by. */
export const PEERS = ['onnxruntime', 'tensorflow', 'jax'] as const;
export type Peer = (typeof PEERS)[number];
export type RuntimeName = 'weft' | Peer;
/** What is run by turns: the runtimes, and what none of them can do without. */
export type RunName = RuntimeName | 'floor';

/** A case as the page gets it: plain data with addresses on the benchmark's server. */
export interface BenchCase {
  /** Word by which `--case` and the runtimes' own operators know it, such as `matmul-512`. */
  readonly name: string;
  /** Address of the ONNX model. */
  readonly model: string;
  /** Address of the executable that the model was compiled to ahead of time. */
  readonly executable: string;
  /** Uploaded at every run, in the order of the model's inputs. */
  readonly inputs: readonly CaseTensor[];
  /** Resident on the device; initializers of the model. Models of their own have none here. */
  readonly weights: readonly CaseTensor[];
  /** What the model's author says that it gives; empty where nobody does. */
  readonly expected: readonly CaseTensor[];
}

export interface CaseTensor {
  /** The element types of the benchmark's models. */
  readonly dtype: 'float32' | 'int64' | 'int32' | 'bool';
  readonly shape: readonly number[];
  /** Address of the raw elements. */
  readonly url: string;
}

/** What Weft is to be faster by, as a ratio of medians; absent: nothing was promised. */
export type Targets = Readonly<Partial<Record<Peer, number>>>;

/** Work of one run, to be compared with a ceiling of the adapter. */
export type Work = { readonly flops: number } | { readonly bytes: number };

/** A case with what only the terminal needs. */
export interface CasePlan {
  readonly name: string;
  readonly title: string;
  readonly targets: Targets;
  /** Peers that can run it at all. */
  readonly peers: readonly Peer[];
  /** Whether cold starts are measured too. */
  readonly isCold: boolean;
  readonly work?: Work | undefined;
  /** Launches that depend on each other, as many as the case is made of. Default 1. */
  readonly launches?: number | undefined;
  /** Writes nothing: makes the case and the bytes behind its addresses, when its turn comes. */
  build(): BuiltCase;
}

export interface BuiltCase {
  readonly benchCase: BenchCase;
  readonly files: ReadonlyMap<string, Uint8Array>;
}
