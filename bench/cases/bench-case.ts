/** Devices of Weft that are compared with the same kind of device of other runtimes. */
export const DEVICES = ['webgpu', 'wasm'] as const;
export type BenchDevice = (typeof DEVICES)[number];

/** Runtimes that a case can be run by. */
export const PEERS = ['onnxruntime', 'tensorflow', 'jax'] as const;
export type Peer = (typeof PEERS)[number];
export type RuntimeName = 'weft' | Peer;
/**
 * Contestants that take turns: the runtimes; Weft with inputs and outputs that stay on the device, and
 * the same with the case's other element type or on one thread; the floor that no runtime can beat;
 * multiply-adds and products of bytes in registers.
 */
export type RunName =
  | RuntimeName
  | 'weft-resident'
  | 'weft-float32'
  | 'weft-one-thread'
  | 'floor'
  | 'multiply-adds'
  | 'byte-products';

/** A case as the page gets it: plain data with addresses on the benchmark's server. */
export interface BenchCase {
  /** Word by which `--case` and the runtimes' own operators know it, such as `matmul-512`. */
  readonly name: string;
  /** Address of the ONNX model. */
  readonly model: string;
  /** Address of the executable that the model was compiled to ahead of time. */
  readonly executable: string;
  /** Address of the executable with one function more, `hold`, that gives back its input. */
  readonly resident?: string | undefined;
  /** Uploaded at every run, in the order of the model's inputs. */
  readonly inputs: readonly CaseTensor[];
  /** Resident on the device; initializers of the model. Models of their own have none here. */
  readonly weights: readonly CaseTensor[];
  /** Expected outputs from the model's author; empty if there are none. */
  readonly expected: readonly CaseTensor[];
  /** Largest difference from them, or between two runtimes, over the range of the output. */
  readonly tolerance: number;
  /** The same case with elements of float32, for a case with others. */
  readonly float32?: BenchCase | undefined;
  /** Of a case whose runs are steps of training: `inputs` are the batch and its targets, `weights` the parameters. */
  readonly training?: Training | undefined;
}

export interface Training {
  /** Names of the weights in their order. */
  readonly parameters: readonly string[];
  /** Names of the executable's state. */
  readonly state: readonly string[];
  /** The learning rate of Adam. */
  readonly rate: number;
}

/** The element types of the benchmark's models. */
export const CASE_TYPES = ['float32', 'int64', 'int32', 'int8', 'uint8', 'bool'] as const;

export interface CaseTensor {
  readonly dtype: (typeof CASE_TYPES)[number];
  readonly shape: readonly number[];
  /** Address of the raw elements. */
  readonly url: string;
}

/** Target speedups of Weft, as ratios of times; absent: nothing was promised. */
export interface Targets extends Readonly<Partial<Record<Peer, number>>> {
  /** Of a cold start against onnxruntime-web; where absent, cold starts are not measured. */
  readonly cold?: number;
  /** Share of the ceiling for the case's work. */
  readonly ceiling?: number;
  /** Against Weft's own product of float32, where the processor's products of bytes are that fast. */
  readonly float32?: number;
  /** How many times less memory than the fastest peer it may take at the least. */
  readonly memory?: number;
  /** Of several threads against Weft's own run on one: in a page that is isolated, and in another. */
  readonly oneThread?: { readonly isolated?: number; readonly apart?: number };
}

/** A case is measured on the devices that it has targets for. */
export type DeviceTargets = Readonly<Partial<Record<BenchDevice, Targets>>>;

/** Work of one run, to be compared with a ceiling of the adapter. */
export type Work = { readonly flops: number } | { readonly bytes: number };

/** A case with what only the terminal needs. */
export interface CasePlan {
  readonly name: string;
  readonly title: string;
  readonly targets: Targets;
  /** Peers that can run it at all. */
  readonly peers: readonly Peer[];
  readonly work?: Work | undefined;
  /** Launches that depend on each other, as many as the case is made of. Default 1. */
  readonly launches?: number | undefined;
  /** True if its runs are steps of training, which have to reach their targets on every device. */
  readonly isTraining?: boolean;
  /** Writes nothing: makes the case and the bytes behind its addresses, when its turn comes. */
  build(): BuiltCase;
}

export interface BuiltCase {
  readonly benchCase: BenchCase;
  readonly files: ReadonlyMap<string, Uint8Array>;
}
