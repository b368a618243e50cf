import type { DType } from '../../core/tensor/dtype.ts';
import type { CodePlace } from '../../core/contracts/paused-call.ts';
import type { Shape } from '../../core/tensor/shape.ts';

/**
 * Where a debugging run stops: at an instruction, which it has not run then; at what computes a node or a value of the source,
 * by its name (of a text, a line as `program.ir:3`); or after a kernel whose output holds a NaN, an infinity, or an element
 * further from zero than a limit.
 */
export type Breakpoint =
  | { readonly at: CodePlace }
  | { readonly node: string }
  | { readonly output: 'nan' | 'infinity' }
  | { readonly outputAbove: number };

/** A breakpoint with the instructions that it stands for; none for one that every kernel's output is tested by. */
export interface SetBreakpoint {
  readonly breakpoint: Breakpoint;
  readonly places: readonly CodePlace[];
}

/** One call of the stack of a debugging run. */
export interface DebugFrame extends CodePlace {
  /** Nodes of the model or lines of the source that the instruction comes from. */
  readonly sources: readonly string[];
}

/** A kernel whose output made a debugging run stop. */
export interface FoundOutput extends DebugFrame {
  readonly kernel: string;
  readonly breakpoint: Breakpoint;
  /** How many elements of the output it holds for. */
  readonly count: number;
  /** The number of the first of them, in row-major order. */
  readonly element: number;
}

/** Why a debugging run stands: it went as far as it was told, or was stopped before. */
export type StopReason = 'step' | 'breakpoint' | 'output' | 'pause' | 'end' | 'error';

/** The place where a debugging run stands, and why. */
export interface DebugStop {
  /** Why the run stands there. */
  readonly reason: StopReason;
  /** Instructions that it has run: the number of its place in the run, for `seek`. */
  readonly executed: number;
  /** Calls that are open: frames of the stack. */
  readonly depth: number;
  /**
   * The open calls, the innermost first, at most 100: the instruction that it runs next, then those that called. After an
   * error they are those of the instruction that failed; after the end there are none.
   */
  readonly frames: readonly DebugFrame[];
  /** With `output`: the kernel and what was found. */
  readonly found?: FoundOutput | undefined;
  /** With `error`: what the program failed with. */
  readonly error?: string | undefined;
}

/** A register, or a part of a value. */
export interface DebugValue {
  /** The number of the register in its frame, or of the part in its value. */
  readonly index: number;
  readonly kind: string;
  /** The value in words: `float32 tensor (2, 3)`, `int 4`. */
  readonly text: string;
  /** How many parts it has: fields of a tuple, values that a closure captured. */
  readonly parts: number;
  /** True for memory that a kernel is about to write: its elements mean nothing yet. */
  readonly isUnwritten: boolean;
}

/** Numbers about the elements of a tensor. Those of all but counts leave out NaN and infinities. */
export interface TensorStatistics {
  /** How many elements there are in all. */
  readonly count: number;
  /** The least finite element; NaN where there is none. */
  readonly minimum: number;
  /** The greatest finite element; NaN where there is none. */
  readonly maximum: number;
  readonly mean: number;
  /** The standard deviation of the finite elements, of all and not of a sample. */
  readonly deviation: number;
  readonly nans: number;
  readonly infinities: number;
  readonly zeros: number;
}

/** A tensor as a picture, which is made smaller where it is larger than 256 pixels. */
export interface TensorPicture {
  readonly width: number;
  readonly height: number;
  /** Red, green, blue and opacity of each pixel, row by row. */
  readonly rgba: Uint8ClampedArray<ArrayBuffer>;
}

/** The elements of a tensor, described in numbers. */
export interface TensorDetail {
  readonly kind: 'tensor';
  readonly dtype: DType;
  readonly shape: Shape;
  /** Numbers about its elements. */
  readonly statistics: TensorStatistics;
  /** How many finite elements lie in each of equal intervals from the minimum to the maximum. */
  readonly histogram: readonly number[];
  /** The first elements, at most 256. */
  readonly first: readonly number[];
  /**
   * The picture of a tensor of a shape that pictures have: HxW, HxWx1, 3 or 4, and 1 or 3 planes of
   * HxW, all of them also after a 1.
   */
  readonly picture?: TensorPicture | undefined;
}

/** A value in full. */
export type DebugDetail =
  | TensorDetail
  /** The parts of a tuple, of data or of a closure, at most 1,000. */
  | { readonly kind: 'parts'; readonly text: string; readonly parts: readonly DebugValue[] }
  /** The slots of a shape heap, in which sizes are computed. */
  | { readonly kind: 'heap'; readonly slots: readonly number[] }
  | { readonly kind: 'other'; readonly text: string };

/** A register that holds memory of a storage. */
export interface StorageUse {
  /** The number of the frame, 0 the innermost. */
  readonly frame: number;
  readonly register: number;
  /** The offset of the first byte in the storage. */
  readonly byteOffset: number;
  /** Bytes of it; of a storage itself all. */
  readonly byteLength: number;
  /** The tensor in words, where the register holds one. */
  readonly text: string;
}

/** A piece of device memory that registers hold. */
export interface DebugStorage {
  /** Tells storages apart; the first that was seen is 0. */
  readonly number: number;
  readonly device: string;
  readonly byteLength: number;
  /** True if it holds constants. */
  readonly isReadOnly: boolean;
  /** The registers that hold it, also within tuples and closures. */
  readonly uses: readonly StorageUse[];
}

/** The memory that registers of a debugging run hold. */
export interface DebugMemory {
  /** The storages, in the order of their numbers, at most 1,000. */
  readonly storages: readonly DebugStorage[];
  /** Shape heaps by the frame and register that hold them. */
  readonly heaps: readonly {
    readonly frame: number;
    readonly register: number;
    readonly slots: readonly number[];
  }[];
  /** Storages that are held, not counting constants, in bytes. */
  readonly heldBytes: number;
}
